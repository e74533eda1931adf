import { DeliveryError } from '../errors.ts';
import type { FetchedContent } from '../http/fetch-back.ts';
import type { readCacheTime, readLastModified } from '../http/response.ts';
import { formatTime } from '../plain-text.ts';
import { DAY, MINUTE, SECOND } from '../protocol/limits.ts';
import type { Text } from '../words.ts';

/** How a body relates to the file: whether that proves it, what it means to a person, and what to do. */
interface Match {
  /** Whether one such answer proves the delivery or the withdrawal. */
  readonly proves?: true;
  readonly text: string;
  readonly hint?: Text;
}

const MATCHES = {
  identical: { proves: true, text: 'the file, byte for byte' },
  /** A link's page. */
  extended: { proves: true, text: 'the whole file, with additions by its host' },
  /** Where no file was given to compare with. */
  marked: { proves: true, text: 'the marker' },
  /** What a withdrawn address must answer. */
  gone: { proves: true, text: 'no content' },
  /** Counts only with what the host says of its build. */
  altered: {
    text: 'the marker, but other content than the file',
    hint: 'the host or a proxy changed the file: for a Pages site, commit an empty .nojekyll to its root, or give the job `pages: read`',
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
    text: 'content without the marker',
    hint: (w) =>
      `open the URL: if it is the right page, set ${w.input('marker')} to text that the page shows; otherwise correct the URL`,
  },
  login: {
    text: 'a login page: the URL is not public, or its host is in private mode',
  },
  echo: {
    text: 'the marker, but only in its URL, title, scripts, comments, attributes or hidden parts',
    hint: (w) =>
      `set ${w.input('marker')} to text that only this page shows, or name the file in ${w.input('file')}`,
  },
  'no-text': {
    text: 'the marker, but neither in a page nor in plain text',
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

/** What a proven address may have answered: `altered` counts with what the host says of its build. */
export type ProvenMatch = Extract<ContentMatch, 'identical' | 'extended' | 'marked' | 'gone' | 'altered'>;

export const describeMatch = (match: ContentMatch): Match => MATCHES[match];

/** Whether one answer is enough to prove the delivery or the withdrawal. */
export const provesAlone = ({ match }: Pick<ProbeResult, 'match'>): boolean =>
  describeMatch(match).proves === true;

/** What one request to an address showed. */
export interface ProbeResult
  extends Pick<FetchedContent, 'fingerprint' | 'refusal'>,
    ReturnType<typeof readCacheTime> {
  /** What it is, compared with the file. */
  readonly match: ContentMatch;
  /** What the host has added to the file. */
  readonly added?: readonly string[];
  /** Whether it is the file, but answered in another folder than its own. */
  readonly isElsewhere?: boolean;
  readonly httpCode: number | null;
  /** Hosts that were requested, in order. */
  readonly hosts: readonly string[];
  readonly lastModified: ReturnType<typeof readLastModified>;
  readonly version?: string;
  /** Whether it is a page, and a `Content-Security-Policy` may keep parts of it from working. */
  readonly hasPolicy?: boolean;
  /** Whether a browser downloads it. */
  readonly isDownload?: boolean;
  /** Its `Content-Type`; empty for none. */
  readonly type?: string;
  /** Whether it was asked as a browser asks, unlike the others. */
  readonly asBrowser?: boolean;
  /** Of a file in a bin: whether the host says that it may be downloaded once more. */
  readonly opensAgain?: boolean;
  /** When its host allows another request, by `Clock.now`. */
  readonly notBefore?: number;
  /** Why there was no answer to compare. */
  readonly failure?: DeliveryError;
}

/** What is known of an address that gave no answer. */
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

/** An address, and the SHA-256 of what it answered; no address where it would hold a credential. */
export interface ProvenSubject {
  readonly url: string | null;
  readonly sha256: string;
}

/** What verification found: the evidence for G3. */
export interface Proof {
  readonly httpCode: number;
  /** `null` without a marker. */
  readonly markerCount: number | null;
  /** SHA-256 of the body, lowercase hex; `null` where nothing is served any more. */
  readonly sha256: string | null;
  /** How the body relates to the file. */
  readonly match: ProvenMatch;
  readonly hosts: readonly string[];
  /** What the other addresses of a site have answered; of very many the first. */
  readonly further: readonly ProvenSubject[];
  /** Of a file in a bin, whose host may limit them: how many downloads the proof was. */
  readonly downloads?: number;
  /** The raw address, where it was proven too. */
  readonly rawUrl: URL | null;
  /** Whether a browser downloads it. */
  readonly isDownload?: boolean;
  /** Where a cache still shows an earlier version of the page: its proven address with `?v=`, and the sentence beside it. */
  readonly versioned?: { readonly url: URL; readonly note: string };
  /** Whether caches were not asked, as UNKNOWN says. */
  readonly isCached: boolean;
  /** Whether it was reached in a private network, as UNKNOWN says. */
  readonly isInternal: boolean;
}

/** How often the marker was found in an answer; `null` without a marker. */
export function countMarker(result: ProbeResult | null, marker: string | undefined): number | null {
  return marker === undefined ? null : (result?.fingerprint?.markerCount ?? 0);
}

/** One answer in words; never the address itself, which is not proven yet. */
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
  const type = result.match === 'not-shown' ? ` (Content-Type: ${result.type || 'none'})` : '';
  return `${code} with ${describeMatch(result.match).text}${type}`;
}

/** What an answer that is proven says of the bytes. */
const BYTES: Readonly<Record<ProvenMatch, (proof: Proof) => readonly string[]>> = {
  identical: () => ['bytes identical: yes'],
  extended: () => ['bytes identical: no, the host added to the file'],
  altered: () => ['bytes identical: no'],
  marked: () => [],
  gone: ({ isCached }) => [`nothing of it is served ${isCached ? 'past caches' : 'there'}`],
};

/** What was proven of the content: in the report's TEST line and as the evidence of G3. */
export const describeProof = (proof: Proof): readonly string[] => [
  ...(proof.markerCount === null || proof.match === 'gone' ? [] : [formatMarker(proof.markerCount)]),
  ...BYTES[proof.match](proof),
  ...(proof.downloads === undefined ? [] : [`downloads that the proof took: ${proof.downloads}`]),
];

export const formatMarker = (count: number): string =>
  `marker found: ${count === 0 ? 'no' : `yes, ${count} ×`}`;

/** How old an answer of a cache is, and how long it may stay; empty for an answer that no cache gave. */
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

/** The time by the clock, if it is known and near. @param now milliseconds since the epoch */
export function describeCacheEnd(freshFor: number | null, now: number): string {
  if (!freshFor || freshFor > DAY) return describeCacheTime(freshFor);
  return `until ${formatTime(Math.ceil((now + freshFor) / MINUTE) * MINUTE)}`;
}

/** A login page never becomes the file, so there is no point in waiting. @see protocol 1 (rule 2) */
export const loginPageError = (result: ProbeResult, hint: Text): DeliveryError =>
  new DeliveryError('NOT_EXTERNAL', describeProbe(result), { httpCode: result.httpCode ?? undefined, hint });
