import type { FetchedContent } from '../http/fetch-back.ts';
import type { GitBlob } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { BrowserDisplay } from '../rules/media-type.ts';
import type { Text } from '../words.ts';
import { type ContentMatch, type ProbeResult, provesAlone } from './probe-result.ts';

/** What a host means when it refuses the public address. */
export interface KnownRefusal {
  readonly httpCodes: readonly number[];
  /** The reason that the host gives in plain text; absent where the status alone tells. */
  readonly text?: RegExp;
  readonly hint: Text;
  /** Whether waiting can't help. */
  readonly isFinal?: boolean;
}

/** The first that fits the answer. */
export const findMeaning = <One extends KnownRefusal>(
  known: readonly One[],
  httpCode: number,
  text: string,
): One | undefined =>
  known.find((refusal) => refusal.httpCodes.includes(httpCode) && (refusal.text?.test(text) ?? true));

/** What follows from whose host an address is on. */
export interface HostRules {
  /** Whether every redirect must lead to a public host: the address came from outside. */
  readonly mustBePublic: boolean;
  /** Whether it shows a warning page once to each browser, and may count and limit downloads. */
  readonly warnsBrowsers: boolean;
  /** Whether it may show browsers more than the file, and programs the file. */
  readonly addsForBrowsers: boolean;
  /** Whether the page is asked again after the other files: they must be right together. */
  readonly asksPageAgain: boolean;
  /** What it means by other refusals. */
  readonly refusals: readonly KnownRefusal[];
  /** Looks after which it is given up where nothing reaches it: a new name may come to resolve. */
  readonly maxUnreachedRounds: number;
  /** What to do about each problem; `rename` gets an address that no cache knows, where it is ours. */
  readonly hints: Readonly<Record<'login' | 'moved' | 'late' | 'busy', Text>> &
    Readonly<Partial<Record<'other' | 'rename', Text>>>;
  /** What its right answers leave open, for UNKNOWN. @param downloads how many the proof took */
  describe(seen: readonly [ProbeResult, ...ProbeResult[]], page: Check, downloads: number): readonly string[];
}

/** The bytes that an address must show; of a local file they can be read as well. */
export type ExpectedFile = Pick<LocalFile, 'size'> &
  Partial<Pick<LocalFile, 'prefixSha256' | 'pieces' | 'blobSha' | 'name'>> & {
    /** `null` where only the branch tells what was delivered: then git's id counts. */
    readonly sha256: string | null;
  };

/** What an address must answer. */
export interface ExpectedAnswer {
  /**
   * `bytes`: the file. `built`: the file, or a page with the marker of the build of our commit, or of a later one.
   * `marker`: no file is known. `gone`: nothing. `replaced`: nothing, or of such a build another file than `before`.
   */
  readonly is: 'bytes' | 'built' | 'marker' | 'gone' | 'replaced';
  readonly file?: ExpectedFile | undefined;
  readonly marker?: string | undefined;
  /** What was there before, the newest first, to recognize the old copy of a cache. */
  readonly before?: readonly GitBlob[] | undefined;
  /** How a browser is to show it, which the answer must allow; absent where only its bytes count. */
  readonly display?: BrowserDisplay | undefined;
  /** How old such an answer may be, where the host is not asked for its build: milliseconds since the epoch. */
  readonly after?: number | undefined;
  /** Judges an answer further, where the host may rightly change it. */
  readonly judge?: JudgeAnswer;
}

/** @param match how the answer compares with the file, byte for byte, or with the marker */
export type JudgeAnswer = (
  fetched: FetchedContent,
  check: Check,
  match: ContentMatch,
) => Promise<MatchedAnswer>;

export type MatchedAnswer = Pick<ProbeResult, 'match' | 'added' | 'isElsewhere'>;

/** How an address is asked. */
export interface AnswerSeries {
  /** How many answers in a row must be right. */
  readonly answers: number;
  /** Who asks; of `both`, the second answer is a browser's. */
  readonly as: 'tool' | 'browser' | 'both';
  /** Milliseconds between the first two. */
  readonly pause?: number;
  /** Whether a cache may have answered: then the copy from before counts after some looks. */
  readonly acceptsOld?: boolean;
}

/** One address to prove: a row of the list that the loop goes through. */
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
  /** How it is asked without `?v=`, as a person opens it, once everything is right with it; absent: it is not. */
  readonly plainSeries?: AnswerSeries | undefined;
  /** `note`: a few looks are enough, and none has to be right. */
  readonly isOptional?: true;
  /** The host on which a browser must end after redirects. */
  readonly endsOn?: string | undefined;
}

export const isRemovedCheck = ({ expect: { is } }: Pick<Check, 'expect'>): boolean =>
  is === 'gone' || is === 'replaced';

/** What an answer is: what is wanted, the copy from before that a cache may have, or anything else. */
type Verdict = 'right' | 'old' | 'wrong';

/** What tells whether a page comes from the build of our commit. */
export interface KnownBuild {
  /** When that build began, or a later one that the host has finished: milliseconds since the epoch. */
  readonly builtAt: number | undefined;
  /** The version that the address showed before the end of our build, whatever its date. */
  readonly outdated: string | undefined;
}

/** @param seen the SHA-256 that a built page must have */
export function judgeAnswer(
  { match, lastModified, version, fingerprint, hosts }: ProbeResult,
  { endsOn, expect: { is, after }, series: { acceptsOld } }: Check,
  { builtAt, outdated }: KnownBuild,
  seen?: string,
): Verdict {
  if (endsOn !== undefined && hosts.at(-1) !== endsOn) return 'wrong';
  if (provesAlone({ match })) return 'right';
  if (match === 'previous') return acceptsOld ? 'old' : 'wrong';
  const since = after ?? builtAt;
  const isNew = since !== undefined && (lastModified ?? 0) >= since && version !== outdated;
  if (is === 'replaced' && match === 'served') return isNew ? 'right' : 'wrong';
  if (is !== 'built') return 'wrong';
  if (match === 'altered' && (seen === undefined ? isNew : seen === fingerprint?.sha256)) return 'right';
  // A page that the host renders is known by its date to be from before.
  const isOlder = since !== undefined && lastModified !== null && !isNew;
  return acceptsOld && isOlder && (match === 'altered' || match === 'different') ? 'old' : 'wrong';
}
