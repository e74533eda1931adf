import type { PageSnapshot } from './view-page.ts';

/**
 * Words of error pages by hosts, frameworks and programs. Other error pages, in any language, are found by comparing a
 * folder's pages with the page at a path that doesn't exist.
 */
const ERROR_WORDS: ReadonlySet<string> = new Set(
  [
    '400 401 403 404 405 408 410 429 500 501 502 503 504 http https status code error exception',
    'not found gone bad gateway request timeout too many requests forbidden unauthorized get',
    'access permission denied internal server service temporarily unavailable',
    "the this that page file url resource site requested was were is are be could can has can't couldn't isn't",
    "cannot doesn't does moved or exist missing available on here there for looking you we i what find a an",
    "sorry oops ooops whoops we're you're that's all know unexpected unknown fatal network application occurred",
    'something went wrong please try again later retry reload refresh go back return take me to home homepage start',
    'undefined null nan object failed unable load fetch connect data enable javascript need run app dynamically imported module',
    'nginx apache cloudflare ubuntu debian',
  ].flatMap((line) => line.split(' ')),
);

const ERROR =
  /404|410 gone|\bnot? (?:be )?(?:found|exist|available)|n't (?:exist|find|be found)|error|exception|undefined|\bnull\b|\bnan\b|object object|went wrong|cannot get|\bbad \w|timeout|too many requests|forbidden|unauthorized|denied|unavailable|failed to|unable to|enable javascript/;

const NO_ERROR = /^(?:no|0|without) (?:\w+ )?(?:error|exception|timeout)/;

function isMadeOfErrorWords(text: string): boolean {
  const found = text.replace(/\S*\/\S*|\d+ ?%/g, ' ').match(/[\p{L}\p{M}\d']+/gu) ?? [];
  return found.length > 0 && found.every((word) => ERROR_WORDS.has(word));
}

const simplify = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('’', "'").trim();

/** Most characters of an error, of a stack trace, and of a site's own 404 page. */
const LONGEST = { text: 400, trace: 4_000, notFound: 600 } as const;

const ERROR_NAME = '(?:uncaught )?(?:\\(in promise\\) )?(?:[a-z]\\w*\\.)*(?:[A-Z]\\w*)?(?:Error|Exception)';

/** Printed exceptions, with or without a stack trace, and templates without data. */
const PRINTED = [
  new RegExp(`^${ERROR_NAME}: (?=\\p{L})(?!.*[.!?] \\p{Lu}).{1,200}$`, 'iu'),
  new RegExp(`^(?:Exception in .{1,80} )?${ERROR_NAME}\\b.* at .*:\\d+\\)?$`, 'iu'),
  /^Traceback \(most recent call last\): .*\w(?:Error|Exception|Exit|Interrupt)\b.{0,300}$/u,
  /^(?:\{\{[^{}]{0,80}\}\} ?)+$/,
];

/** Whether a text is nothing but an error. A page about errors has more text. */
export function isOnlyError(text: string): boolean {
  const line = simplify(text);
  if (line.length <= LONGEST.trace && PRINTED.some((pattern) => pattern.test(line))) return true;
  const lower = line.toLowerCase();
  return (
    line.length <= LONGEST.text &&
    ERROR.test(lower) &&
    !NO_ERROR.test(lower) &&
    isMadeOfErrorWords(lower.replace(/[[\]]/g, ' '))
  );
}

/**
 * Whether a page is the site's own 404 page: a heading and the title are nothing but an error.
 *
 * @param isLacking if the page lacks data that it requested, its title doesn't matter
 */
export function isOwnNotFound({ text, title, headings }: PageSnapshot, isLacking: boolean): boolean {
  const isNotFound = (line: string): boolean => /404|found|exist/i.test(line) && isOnlyError(line);
  return (
    text.length <= LONGEST.notFound &&
    headings.some(isNotFound) &&
    (isLacking || title.split(/ [^\p{L}\d]+ /u).some(isNotFound))
  );
}

export const isErrorPageName = (pathname: string): boolean =>
  /\/(?:[45]\d\d|error|not-?found)(?:\.x?html?|\/|\/index\.x?html?)?$/i.test(pathname);

/**
 * Whether the text only asks to wait. An ellipsis at its end is enough in any language, if the page still moves or
 * something failed.
 */
export const isOnlyWaiting = (text: string, isUnfinished: boolean): boolean =>
  text.length <= 80 &&
  (/^(?:(?:loading|please wait)[\s.…!,]*)+(?:\d+ ?%)?$/i.test(text.trim()) ||
    (isUnfinished && /(?:…|\.\.\.)(?:\s*\d+ ?%)?$/.test(text.trim())));

/** Error screens of browsers and frameworks. Any text may follow. */
const ERROR_SCREENS =
  /^(This page contains the following errors:|Application error: a (client|server)-side exception has occurred|Unexpected Application Error!)/;

/** Browsers show the source of XML that they can't draw. */
const SOURCE_SCREEN = /^This XML file does not appear to have any style information/;

/** @param isDrawn whether browsers draw this type rather than show its source */
export const isErrorScreen = (text: string, isDrawn: boolean): boolean =>
  (text.length <= 2_000 && ERROR_SCREENS.test(simplify(text))) ||
  (isDrawn && SOURCE_SCREEN.test(simplify(text)));
