import type { FetchedContent } from '../http/fetch-back.ts';
import type { GitBlob } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { BrowserDisplay } from '../rules/media-type.ts';
import type { Text } from '../words.ts';
import { type ContentMatch, type ProbeResult, provesAlone } from './probe-result.ts';

export interface KnownRefusal {
  readonly httpCodes: readonly number[];
  /** Matches the host's reason; absent if the code is enough. */
  readonly text?: RegExp;
  readonly hint: Text;
  readonly isFinal?: boolean;
}

export const findMeaning = <One extends KnownRefusal>(
  known: readonly One[],
  httpCode: number,
  text: string,
): One | undefined =>
  known.find((refusal) => refusal.httpCodes.includes(httpCode) && (refusal.text?.test(text) ?? true));

/** The rules that differ by the owner of the host. */
export interface HostRules {
  /** Whether every redirect must lead to a public host, because the URL came from outside. */
  readonly mustBePublic: boolean;
  /** Whether the host shows each browser a warning page once, and may count downloads. */
  readonly warnsBrowsers: boolean;
  readonly addsForBrowsers: boolean;
  /** Whether the page is fetched again after the other files, because all must be right together. */
  readonly asksPageAgain: boolean;
  readonly refusals: readonly KnownRefusal[];
  /** Rounds without any connection before giving up, because a new host name may resolve later. */
  readonly maxUnreachedRounds: number;
  /** What to do about each problem; `rename` gives a URL that no cache knows. */
  readonly hints: Readonly<Record<'login' | 'moved' | 'late' | 'busy', Text>> &
    Readonly<Partial<Record<'other' | 'rename', Text>>>;
  /** @returns what right answers leave unknown */
  describe(seen: readonly [ProbeResult, ...ProbeResult[]], page: Check, downloads: number): readonly string[];
}

export type ExpectedFile = Pick<LocalFile, 'size'> &
  Partial<Pick<LocalFile, 'prefixSha256' | 'pieces' | 'blobSha' | 'name'>> & {
    /** `null` if only the git id is known. */
    readonly sha256: string | null;
  };

export interface ExpectedAnswer {
  /**
   * `bytes`: the file. `built`: the file, or a page with the marker from the build of this commit or a later one.
   * `marker`: no file is known. `gone`: nothing. `replaced`: nothing, or after such a build any file but `before`.
   */
  readonly is: 'bytes' | 'built' | 'marker' | 'gone' | 'replaced';
  readonly file?: ExpectedFile | undefined;
  readonly marker?: string | undefined;
  /** The previous contents, newest first, to recognize a cache's old copy. */
  readonly before?: readonly GitBlob[] | undefined;
  /** How the headers must let a browser show the file; absent if only its bytes count. */
  readonly display?: BrowserDisplay | undefined;
  /** The earliest date of a right answer, if the build isn't known: milliseconds since the epoch. */
  readonly after?: number | undefined;
  /** Judges an answer that the host may rightly change. */
  readonly judge?: JudgeAnswer;
}

export type JudgeAnswer = (
  fetched: FetchedContent,
  check: Check,
  match: ContentMatch,
) => Promise<MatchedAnswer>;

export type MatchedAnswer = Pick<ProbeResult, 'match' | 'added' | 'isElsewhere'>;

export interface AnswerSeries {
  readonly answers: number;
  /** Who fetches; with `both`, the second request is a browser's. */
  readonly as: 'tool' | 'browser' | 'both';
  /** Whether the previous copy counts after a few rounds, because a cache may answer. */
  readonly acceptsOld?: boolean;
}

export interface Check {
  readonly url: URL;
  /** What messages call it: its path in the site, or such as `the page`. */
  readonly label: string;
  /** Whether this is the page, whose URL is handed over. */
  readonly isPage: boolean;
  readonly expect: ExpectedAnswer;
  readonly series: AnswerSeries;
  readonly host: HostRules;
  /** Whether `?v=` is added to each request, to get past caches. @see protocol 4.5 */
  readonly addsVersion: boolean;
  /** How the URL is fetched without `?v=`, as people open it, after everything is right with it. */
  readonly plainSeries?: AnswerSeries | undefined;
  readonly isOptional?: true;
  /** The host on which a browser must end after redirects. */
  readonly endsOn?: string | undefined;
}

export const isRemovedCheck = ({ expect: { is } }: Pick<Check, 'expect'>): boolean =>
  is === 'gone' || is === 'replaced';

export interface KnownBuild {
  /** When that build or a later finished one began: milliseconds since the epoch. */
  readonly builtAt: number | undefined;
  /** The version that the URL showed before that build finished. */
  readonly outdated: string | undefined;
}

/** @param seen the SHA-256 that a built page must have @returns `old` for the previous copy, which a cache may have */
export function judgeAnswer(
  { match, lastModified, version, fingerprint, hosts, freshFor }: ProbeResult,
  { endsOn, expect: { is, after, file }, series: { acceptsOld } }: Check,
  { builtAt, outdated }: KnownBuild,
  seen?: string,
): 'right' | 'old' | 'wrong' {
  if (endsOn !== undefined && hosts.at(-1) !== endsOn) return 'wrong';
  if (provesAlone({ match })) return 'right';
  // An audit doesn't know the previous contents, but a cache says how long it keeps its copy.
  const isCopy = match === 'previous' || (match === 'different' && file?.sha256 === null && !!freshFor);
  if (isCopy) return acceptsOld ? 'old' : 'wrong';
  const since = after ?? builtAt;
  const isNew = since !== undefined && (lastModified ?? 0) >= since && version !== outdated;
  if (is === 'replaced' && match === 'served') return isNew ? 'right' : 'wrong';
  if (is !== 'built') return 'wrong';
  if (match === 'altered' && (seen === undefined ? isNew : seen === fingerprint?.sha256)) return 'right';
  const isOlder = since !== undefined && lastModified !== null && !isNew;
  return acceptsOld && isOlder && (match === 'altered' || match === 'different') ? 'old' : 'wrong';
}
