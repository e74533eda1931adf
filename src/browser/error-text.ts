import { STATUS_CODES } from 'node:http';
import type { PageSnapshot } from './view-page.ts';

/**
 * Words of error pages by HTTP, hosts, frameworks and programs. Other error pages, in any language, are found by
 * comparing a folder's pages with the page at a path that doesn't exist.
 */
const ERROR_WORDS: ReadonlySet<string> = new Set(
  [
    ...Object.entries(STATUS_CODES).flatMap(([code, name = '']) => (Number(code) < 400 ? [] : [code, name])),
    'http error exception undefined null nan object failed access denied unexpected fatal network nginx apache',
    'ubuntu the this page site url requested was were be is are can cannot could does moved exist find',
    'available oops whoops sorry something went wrong please try again later reload go back return take me',
    'home occurred has an temporarily or on to you we looking unable load data fetch get enable javascript',
    'need run app dynamically imported module',
    "that's can't doesn't you're",
  ].flatMap((line) => line.toLowerCase().split(' ')),
);

/** What at least one part of an error page says. */
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

/** Error screens of browsers and frameworks, after which any text may follow. */
const ERROR_SCREENS =
  /^(This page contains the following errors:|Application error: a (client|server)-side exception has occurred|Unexpected Application Error!)/;

/** @param isDrawn whether browsers draw this type. They show the source of XML that they can't draw. */
export const isErrorScreen = (text: string, isDrawn: boolean): boolean =>
  (text.length <= 2_000 && ERROR_SCREENS.test(simplify(text))) ||
  (isDrawn && simplify(text).startsWith('This XML file does not appear to have any style information'));
