import type { PageSnapshot } from './view-page.ts';

/**
 * Of what pages say that show an error and nothing else, in the words of hosts, frameworks and programs. A page by itself
 * can be compared with nothing; what a router says in any language, the folder's view at an unbuilt path tells.
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

/** Whether all words of a text are of those; neither an address nor a share in percent is a word. */
function isMadeOfErrorWords(text: string): boolean {
  const found = text.replace(/\S*\/\S*|\d+ ?%/g, ' ').match(/[\p{L}\p{M}\d']+/gu) ?? [];
  return found.length > 0 && found.every((word) => ERROR_WORDS.has(word));
}

const simplify = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('’', "'").trim();

/** Characters of a text that is an error and nothing else, with a trace of calls, and of a site's own page for what is missing. */
const LONGEST = { text: 400, trace: 4_000, notFound: 600 } as const;

const ERROR_NAME = '(?:uncaught )?(?:\\(in promise\\) )?(?:[a-z]\\w*\\.)*(?:[A-Z]\\w*)?(?:Error|Exception)';

/** An exception as a runtime prints it, alone or with the calls that led to it; and a template that nobody filled in. */
const PRINTED = [
  new RegExp(`^${ERROR_NAME}: (?=\\p{L})(?!.*[.!?] \\p{Lu}).{1,200}$`, 'iu'),
  new RegExp(`^(?:Exception in .{1,80} )?${ERROR_NAME}\\b.* at .*:\\d+\\)?$`, 'iu'),
  /^Traceback \(most recent call last\): .*\w(?:Error|Exception|Exit|Interrupt)\b.{0,300}$/u,
  /^(?:\{\{[^{}]{0,80}\}\} ?)+$/,
];

/** Whether a text is an error and nothing else: a page that talks about errors has more to say. */
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
 * Whether a page is a site's own one for what is missing: a heading says nothing else, and its title as well.
 *
 * @param isLacking whether the page is known to lack what it asked for, whatever its title says
 */
export function isOwnNotFound({ text, title, headings }: PageSnapshot, isLacking: boolean): boolean {
  const isNotFound = (line: string): boolean => /404|found|exist/i.test(line) && isOnlyError(line);
  return (
    text.length <= LONGEST.notFound &&
    headings.some(isNotFound) &&
    (isLacking || title.split(/ [^\p{L}\d]+ /u).some(isNotFound))
  );
}

/** Whether a name is that of a page which shows an error on purpose, such as `404.html`. */
export const isErrorPageName = (pathname: string): boolean =>
  /\/(?:[45]\d\d|error|not-?found)(?:\.x?html?|\/|\/index\.x?html?)?$/i.test(pathname);

/**
 * Whether all the text of a page only tells that something is still to come. In every language such a text ends with an
 * ellipsis; alone it counts where something moves, failed or is still awaited.
 */
export const isOnlyWaiting = (text: string, isUnfinished: boolean): boolean =>
  text.length <= 80 &&
  (/^(?:(?:loading|please wait)[\s.…!,]*)+(?:\d+ ?%)?$/i.test(text.trim()) ||
    (isUnfinished && /(?:…|\.\.\.)(?:\s*\d+ ?%)?$/.test(text.trim())));

/** What browsers and frameworks show in place of a page that failed, with more text of any length. */
const ERROR_SCREENS =
  /^(This page contains the following errors:|Application error: a (client|server)-side exception has occurred|Unexpected Application Error!)/;

/** What browsers show of a picture or a page that is not marked as one: its source. */
const SOURCE_SCREEN = /^This XML file does not appear to have any style information/;

/** Whether the text is that of an error screen. @param isDrawn whether a browser shows no source of the type */
export const isErrorScreen = (text: string, isDrawn: boolean): boolean =>
  (text.length <= 2_000 && ERROR_SCREENS.test(simplify(text))) ||
  (isDrawn && SOURCE_SCREEN.test(simplify(text)));
