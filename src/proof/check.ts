import type { GitBlob } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { BrowserDisplay } from '../rules/media-type.ts';
import type { Text } from '../words.ts';
import { type ProbeResult, provesAlone } from './probe-result.ts';

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
): One | undefined => known.find((one) => one.httpCodes.includes(httpCode) && (one.text?.test(text) ?? true));

/** What follows from whose host an address is on. */
export interface HostRules {
  /** Without whose change it can change what a redirect leads to. */
  readonly owner: 'the repository' | 'the link';
  /** Whether every redirect must lead to a public host: the address came from outside. */
  readonly mustBePublic: boolean;
  /** Whether `?v=` gets past its caches: nobody knows what the host of a link makes of it. @see protocol 4.5 */
  readonly takesVersion: boolean;
  /** Who asks for the other files of a site. */
  readonly asksFilesAs: 'tool' | 'browser';
  /** Milliseconds between the first two answers: a link may open only once, or for a moment. */
  readonly pause: number;
  /** Of up to so many other files each must answer as often as the page; of more, once. */
  readonly mostAskedOften: number;
  /** Whether the page is asked again after the other files: they must be right together. */
  readonly asksPageAgain: boolean;
  /** Whether it may add something to a page: for everybody, or for browsers alone. */
  readonly addsToPages: boolean;
  /** Whether the address of a file says of which type it is; otherwise its name does. */
  readonly showsType: boolean;
  /** Whether it shows a warning page once to each browser, and may count and limit requests: a file-bin. */
  readonly warnsBrowsers: boolean;
  /** The HTTP codes by which it closes a page to the public. */
  readonly walls: readonly number[];
  /** What it means by other refusals. */
  readonly refusals: readonly KnownRefusal[];
  /** Looks after which it is given up where nothing reaches it: a new name may come to resolve. */
  readonly unreachedLooks: number;
  /** What to do about a page to sign in, a redirect to another host, files that are not there yet, a limit, and another page. */
  readonly hints: Readonly<Record<'login' | 'moved' | 'late' | 'busy', Text>> & { readonly other?: Text };
}

/** The bytes that an address must show; of a local file they can be read as well. */
export type ExpectedFile = Pick<LocalFile, 'size'> &
  Partial<Pick<LocalFile, 'headSha256' | 'pieces' | 'blobSha' | 'name'>> & {
    /** `null` where only the branch tells what was delivered: then git's id counts. */
    readonly sha256: string | null;
  };

/** One address to prove, with what it must show and how it is asked: a row of the list that the loop goes through. */
export interface Check {
  readonly url: URL;
  /** Its path within a site; `null` for the page whose address is handed over. */
  readonly path: string | null;
  /** `null` for one that was removed, and must not be served there any more; and for a link without a file. */
  readonly file: ExpectedFile | null;
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address any more. */
  readonly gone?: boolean;
  /** What the branch held there before, the newest first, to recognize the old copy of a cache. */
  readonly earlier?: readonly GitBlob[];
  /** Of what is removed: whether another file may be served there; then what differs from `earlier` is right. */
  readonly mayBeServed?: boolean;
  /** Whether `?v=` is added to each request, to get past caches. @see protocol 4.5 */
  readonly bypassCache?: boolean;
  /** How a browser is to show it, which the answer must allow; absent where it need not be shown. */
  readonly display?: BrowserDisplay;
  readonly host: HostRules;
  /** K4, of a folder or several files: the file's own address. Redirects lead only to it, or to it without `.html`. */
  readonly home?: URL;
  /** How many answers in a row must be right. */
  readonly answers: number;
  /** Milliseconds between the first two of them. */
  readonly pause?: number;
  /** Pages that a host may show in place of a missing one. */
  readonly fallbacks?: readonly ExpectedFile[];
  /** Whether every answer, or none, is asked for as a browser does; where absent, the second one is. */
  readonly asBrowser?: boolean;
  /** The host on which a browser must end after redirects. */
  readonly endsOn?: string | undefined;
  /** Whether a cache may have answered: then the copy from before counts after some looks. */
  readonly mayBeOld?: boolean;
  /** Whether the host may rightly change it: bytes with the marker are enough if they are not older than what it has built. */
  readonly mayBeBuilt?: boolean | undefined;
  /** Of such a page without `?v=`: the bytes that were seen with it, which it must have. */
  readonly builtSha256?: string | undefined;
  /** Whether a few looks are enough, and none has to be right. */
  readonly isOptional?: boolean;
  /** The same address with `?v=`: asked again where a cache still has the copy from before. */
  readonly fresh?: Check;
}

/** What an answer is: what is wanted, the copy from before that a cache may have, or anything else. */
export type Verdict = 'right' | 'old' | 'wrong';

/** @param builtAt when the commit was made that the host says it has built: milliseconds since the epoch */
export function judgeAnswer(
  { match, lastModified, fingerprint, hosts }: ProbeResult,
  { endsOn, mayBeOld, mayBeServed, mayBeBuilt = false, builtSha256 }: Check,
  builtAt: number | undefined,
): Verdict {
  if (endsOn !== undefined && hosts.at(-1) !== endsOn) return 'wrong';
  const isDated = mayBeBuilt && builtAt !== undefined && lastModified !== null;
  const isOlder = isDated && lastModified < builtAt;
  if (provesAlone({ match }) || (mayBeServed && match === 'served' && !isOlder)) return 'right';
  if (match === 'previous') return mayBeOld ? 'old' : 'wrong';
  const isNew = builtSha256 === undefined ? isDated && !isOlder : builtSha256 === fingerprint?.sha256;
  if (mayBeBuilt && match === 'altered' && isNew) return 'right';
  // A page that the host renders is known by its date to be from before.
  return mayBeOld && isOlder && (match === 'altered' || match === 'different') ? 'old' : 'wrong';
}
