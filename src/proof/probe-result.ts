import { DeliveryError } from '../errors.ts';
import type { FetchedContent } from '../http/fetch-back.ts';
import type { readCacheTime, readLastModified } from '../http/response.ts';
import { formatTime } from '../plain-text.ts';
import { DAY, MINUTE, SECOND } from '../protocol/limits.ts';
import type { Text } from '../words.ts';

interface Match {
  /** Whether one such answer is proof enough. */
  readonly proves?: true;
  readonly text: string;
  readonly hint?: Text;
}

const MATCHES = {
  identical: { proves: true, text: 'the file, byte for byte' },
  extended: { proves: true, text: 'the whole file, with additions by its host' },
  marked: { proves: true, text: 'the marker' },
  gone: { proves: true, text: 'no content' },
  /** Counts only if the host's build is known. */
  altered: {
    text: 'the expected text, but other content than the file',
    hint: (w) =>
      `the host or a proxy changed the file: for a Pages site, ${w.person('commit an empty .nojekyll to its root, or give the job `pages: read`')}`,
  },
  previous: {
    text: 'the previous content',
    hint: (w) =>
      `a cache still serves the old page: try again in ten minutes, or set ${w.input('path')} to a new name`,
  },
  served: { text: 'content, although it was removed' },
  'cut-short': {
    text: 'only the beginning of the file',
    hint: 'the host sent only a part: try again',
  },
  different: {
    text: 'other content',
    hint: 'check that the URL belongs to the file; the host may add to a page, but no <base>, no <meta http-equiv>, and nothing to a page above 2 MB or nested deeper than 512',
  },
  unmarked: {
    text: 'content without the expected text',
    hint: (w) =>
      `open the URL: if it is the right page, set ${w.input('marker')} to text that the page shows; otherwise correct the URL`,
  },
  login: {
    text: 'a login page: the URL is not public, or its host is in private mode',
  },
  echo: {
    text: 'the expected text, but only in its URL, title, scripts, comments, attributes or hidden parts',
    hint: (w) =>
      `set ${w.input('marker')} to text that only this page shows, or name the file in ${w.input('file')}`,
  },
  'no-text': {
    text: 'the expected text, but neither in a page nor in plain text',
    hint: (w) => `name the file in ${w.input('file')}, to compare its bytes`,
  },
  gate: {
    text: 'a sign-in page, a page that redirects, or a page nested too deeply to be judged',
    hint: (w) =>
      `set ${w.input('url')} to the URL of the content itself, or make it public${w.orUse(['K1', 'K2', 'K3'])}`,
  },
  'not-shown': {
    text: 'the right content, but its headers (a download, another type or encoding) keep a browser from showing or using it',
    hint: (w) =>
      `configure the host to send the type of the file (for a page \`Content-Type: text/html; charset=utf-8\`, for a script \`text/javascript\`) and without \`Content-Disposition: attachment\`${w.orUse(['K2', 'K3'], ' for a download')}`,
  },
  moved: {
    text: 'the right content, but redirected to another path, or in another folder than its links need',
    hint: (w) => `set ${w.input('url')} to the URL of the site itself, ending in the / of its folder`,
  },
  absent: { text: 'no page', hint: 'check that the URL is right and public, or try again' },
} as const satisfies Readonly<Record<string, Match>>;

export type ContentMatch = keyof typeof MATCHES;

export type ProvenMatch = Extract<ContentMatch, 'identical' | 'extended' | 'marked' | 'gone' | 'altered'>;

export const describeMatch = (match: ContentMatch): Match => MATCHES[match];

/** Whether one such answer is proof enough. */
export const provesAlone = ({ match }: Pick<ProbeResult, 'match'>): boolean =>
  describeMatch(match).proves === true;

export interface ProbeResult
  extends Pick<FetchedContent, 'fingerprint' | 'refusal'>,
    ReturnType<typeof readCacheTime> {
  readonly match: ContentMatch;
  readonly added?: readonly string[];
  /** Whether the file came from another folder. */
  readonly isElsewhere?: boolean;
  readonly httpCode: number | null;
  readonly hosts: readonly string[];
  readonly lastModified: ReturnType<typeof readLastModified>;
  readonly version?: string;
  /** Whether a `Content-Security-Policy` may block parts of the page. */
  readonly hasPolicy?: boolean;
  readonly isDownload?: boolean;
  readonly type?: string;
  readonly asBrowser?: boolean;
  /** For a bin: whether the file may be downloaded again. */
  readonly opensAgain?: boolean;
  readonly notBefore?: number;
  readonly failure?: DeliveryError;
}

export const failedProbe = (failure: DeliveryError): ProbeResult => ({
  httpCode: failure.httpCode ?? null,
  match: 'absent',
  failure,
  fingerprint: null,
  hosts: [],
  lastModified: null,
  age: null,
  freshFor: null,
});

/** A URL, or `null` if it would hold a credential, and the SHA-256 of its answer. */
export interface ProvenSubject {
  readonly url: string | null;
  readonly sha256: string;
}

export interface Proof {
  readonly httpCode: number;
  readonly markerCount: number | null;
  /** SHA-256 of the body, lowercase hex; `null` after a removal. */
  readonly sha256: string | null;
  readonly match: ProvenMatch;
  readonly hosts: readonly string[];
  /** The site's other files, up to a limit. */
  readonly further: readonly ProvenSubject[];
  /** For a bin, which may limit them: downloads that the proof took. */
  readonly downloads?: number;
  readonly rawUrl: URL | null;
  readonly isDownload?: boolean;
  /** The URL to hand over while a cache shows the previous page, and a note for people. */
  readonly versioned?: { readonly url: URL; readonly note: string };
  /** Whether caches may still answer differently. */
  readonly isCached: boolean;
  readonly isInternal: boolean;
}

/** @returns `null` without a marker */
export function countMarker(result: ProbeResult | null, marker: string | undefined): number | null {
  return marker === undefined ? null : (result?.fingerprint?.markerCount ?? 0);
}

/** Describes an answer without its URL, which is not verified yet. */
export function describeProbe(result: ProbeResult | null): string {
  if (result === null) return 'the URL was not fetched yet';
  if (result.failure !== undefined) return result.failure.message;
  const answers = result.asBrowser && !provesAlone(result) ? 'answers browsers' : 'answers';
  const why = result.match === 'absent' && result.refusal !== undefined ? `: ${result.refusal}` : '';
  return `the URL ${answers} ${describeAnswer(result)}${why}`;
}

/** Such as `HTTP 200 with other content`. */
export function describeAnswer(result: ProbeResult): string {
  const code = result.httpCode === null ? 'no answer' : `HTTP ${result.httpCode}`;
  if (result.match === 'absent') return code + describeAge(result);
  const end = result.hosts.at(-1);
  const isAway = result.match === 'gate' && end !== result.hosts[0];
  const type = result.match === 'not-shown' ? ` (Content-Type: ${result.type || 'none'})` : '';
  return `${code}${isAway ? ` after a redirect to ${end}, perhaps` : ''} with ${describeMatch(result.match).text}${type}`;
}

const BYTES: Readonly<Record<ProvenMatch, (proof: Proof) => readonly string[]>> = {
  identical: () => ['bytes identical: yes'],
  extended: () => ['bytes identical: no, the host added to the file'],
  altered: () => ['bytes identical: no'],
  marked: () => [],
  gone: ({ isCached }) => [
    isCached ? 'nothing of it is served, except perhaps by a cache' : 'nothing of it is served there',
  ],
};

/**
 * For the report's line TEST and gate G3.
 * @param shown counts the marker as readers see the page: the bytes may divide it, and the frame may repeat it
 */
export function describeProof(proof: Proof, shown?: Pick<Proof, 'markerCount'>): readonly string[] {
  const { markerCount } = (proof.match === 'identical' && shown) || proof;
  return [
    ...(markerCount === null || proof.match === 'gone' ? [] : [formatMarker(markerCount)]),
    ...BYTES[proof.match](proof),
    ...(proof.downloads === undefined ? [] : [`downloads that the proof took: ${proof.downloads}`]),
  ];
}

export const formatMarker = (count: number): string =>
  `marker found: ${count === 0 ? 'no' : `yes, ${count} ×`}`;

/** Describes how long a cache may keep an answer; empty if no cache answered. */
export function describeAge({ httpCode, age, freshFor }: ProbeResult): string {
  if (httpCode === 200 || age === null || age === 0) return '';
  return ` from a cache, ${Math.round(age / SECOND)} s old, which may keep it ${describeCacheTime(freshFor)}`;
}

export function describeCacheTime(freshFor: number | null): string {
  if (!freshFor) return 'for an unknown time';
  if (freshFor > DAY) return 'for more than a day';
  const minutes = Math.ceil(freshFor / MINUTE);
  return `for up to ${minutes} minute${minutes === 1 ? '' : 's'}`;
}

/** The note beside a URL with `?v=`. @param until such as `until 2026-01-02 03:04 UTC` */
export const noteEarlier = (until: string): string =>
  `${until}, the URL without its part after the question mark may still show the previous version`;

/** @param now milliseconds since the epoch */
export function describeCacheEnd(freshFor: number | null, now: number): string {
  if (!freshFor || freshFor > DAY) return describeCacheTime(freshFor);
  return `until ${formatTime(Math.ceil((now + freshFor) / MINUTE) * MINUTE)}`;
}

/** Ends at once, because a login page never becomes the file. @see protocol 1 (rule 2) */
export const loginPageError = (result: ProbeResult, hint: Text): DeliveryError =>
  new DeliveryError('NOT_EXTERNAL', describeProbe(result), { httpCode: result.httpCode ?? undefined, hint });
