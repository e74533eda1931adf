import type { PlacedPart, Placement } from '../channels/channel.ts';
import type { Ports } from '../ports.ts';
import { AGREEING_PROBES, SITE } from '../protocol/limits.ts';
import { isHtml } from '../rules/page/page-file.ts';
import type { ExpectedContent, ExpectedFile } from './match-content.ts';
import { isProof, type ProbeResult } from './probe-result.ts';
import { newProbeSession, type ProbeSession, type ProbeTarget, UrlProbe } from './url-probe.ts';

/** One address to prove: a row of the list that the loop goes through. */
export interface Address {
  /** Its path within a site; `null` for the page whose address is handed over. */
  readonly path: string | null;
  /** Asks it. */
  readonly probe: UrlProbe;
  /** How many answers in a row must be right. */
  readonly answers: number;
  readonly wanted: Wanted;
  /** Whether it came from outside: its answers may look different to a browser, and to each one. */
  readonly isLink?: boolean;
  /** Whether every answer, or none, is asked for as a browser does; where absent, the second one is. */
  readonly asBrowser?: boolean;
  /** What it has answered already: then it is asked after the others. */
  readonly known?: ProbeResult | undefined;
  readonly refusals?: Placement['refusals'];
  /** Whether a few looks are enough, and none has to be right. */
  readonly isOptional?: boolean;
  /** The same address with `?v=`: asked again where a cache still has the copy from before. */
  readonly fresh?: Address;
}

/** What is right at an address, beside what proves it by itself. */
export interface Wanted {
  /** Where a browser must end after redirects. */
  readonly host?: string | undefined;
  /** Whether a cache may have answered: then the copy from before counts after some looks. */
  readonly mayBeOld?: boolean;
  /** Whether something else may be there: a site's build may have put it in place of a removed file. */
  readonly mayBeServed?: boolean;
  /**
   * Of a page that the host may rightly change: when the commit was made that the host says it has built. Bytes with
   * the marker are enough if they are not older; without `?v=` they must be those that were seen with it.
   */
  readonly built?: { readonly at: number | undefined; readonly sha256?: string | undefined };
}

/** What an answer is: what is wanted, the copy from before that a cache may have, or anything else. */
export type Verdict = 'right' | 'old' | 'wrong';

export function judgeAnswer(result: ProbeResult, { host, mayBeOld, mayBeServed, built }: Wanted): Verdict {
  const { match, lastModified, fingerprint } = result;
  if (host !== undefined && result.hosts.at(-1) !== host) return 'wrong';
  const isDated = built?.at !== undefined && lastModified !== null;
  const isOlder = isDated && lastModified < (built.at ?? 0);
  if (isProof(result) || (mayBeServed && match === 'served' && !isOlder)) return 'right';
  if (match === 'previous') return mayBeOld ? 'old' : 'wrong';
  const isSeen = built?.sha256 === undefined ? isDated && !isOlder : built.sha256 === fingerprint?.sha256;
  if (built !== undefined && match === 'altered' && isSeen) return 'right';
  // A page that the host renders is known by its date to be from before.
  return mayBeOld && isOlder && (match === 'altered' || match === 'different') ? 'old' : 'wrong';
}

/** A placement on the way to its proof: what its addresses must show, and how they are asked. */
export interface PlacementCheck {
  readonly placement: Placement;
  readonly expected: ExpectedContent;
  /** Asks the address that is handed over, with `?v=` where a cache has to be got past. */
  readonly probe: UrlProbe;
  readonly session: ProbeSession;
  /** When the commit was made that the host says it has built: milliseconds since the epoch. */
  builtAt?: number | undefined;
}

/** @param deadline milliseconds since the epoch */
export function newPlacementCheck(
  placement: Placement,
  expected: ExpectedContent,
  deadline: number,
  ports: Ports,
): PlacementCheck {
  const session = newProbeSession(deadline, ports);
  return { placement, expected, session, probe: new UrlProbe(placement, expected, session, ports) };
}

/** The address that is handed over, with `?v=` against caches. */
export function pageAddress({ placement, expected, probe, builtAt }: PlacementCheck): Address {
  const { answers = AGREEING_PROBES.usual, bypassCache, hostMayChangeBytes } = placement;
  return {
    ...{ path: null, probe, refusals: placement.refusals },
    // With `?v=` one right answer is enough where the address without it is asked next.
    answers: bypassCache && expected.gone !== true ? 1 : answers,
    wanted: {
      ...((hostMayChangeBytes || placement.mayBeServed) && { built: { at: builtAt } }),
      ...(placement.mayBeServed && { mayBeServed: true }),
    },
    isLink: placement.mustBeExternal === true,
    ...(placement.home && { asBrowser: true }),
  };
}

/**
 * What is asked after the page was right once: the other files of a site, past caches, and the page of a link again;
 * then what is asked without `?v=`: the page as it is handed over, the files that changed, and the raw address.
 *
 * @param seen what the page has answered
 */
export function listFurther(
  check: PlacementCheck,
  page: Address,
  seen: ProbeResult,
  ports: Ports,
): { readonly files: readonly Address[]; readonly plain: readonly Address[] } {
  const { placement, expected, session } = check;
  const { parts = [], removed = [], refusals, bypassCache, rawUrl } = placement;
  const { gone = false } = expected;
  const host = seen.hosts.at(-1);
  const open = (target: ProbeTarget, content: ExpectedContent): UrlProbe =>
    new UrlProbe(target, content, session, ports);
  const pages = placement.mustBeExternal ? listFallbacks(check) : [];
  const listed = parts.map((part) => partAddresses(part, { check, pages, host, open }));
  const gones = removed.map(({ path, url, earlier = [] }): Address => {
    const content = { file: null, marker: undefined, gone: true };
    const probe = open({ url, bypassCache: true, isPart: true, earlier }, content);
    return { path, probe, answers: AGREEING_PROBES.usual, wanted: { mayBeServed: true }, refusals };
  });
  const files = [...listed.map(({ file }) => file), ...gones];
  if (!bypassCache && files.length > 0) files.push({ ...page, known: seen });
  if (!bypassCache || gone) return { files, plain: [] };
  const { built } = page.wanted;
  const sha256 = seen.fingerprint?.sha256;
  const handedOver: Address = {
    ...page,
    probe: open({ ...placement, bypassCache: false }, expected),
    answers: AGREEING_PROBES.usual,
    wanted: { host, mayBeOld: true, ...(built && !isProof(seen) && { built: { ...built, sha256 } }) },
    fresh: page,
  };
  const raw = rawUrl &&
    expected.file && {
      path: 'the raw address',
      probe: open({ url: rawUrl }, { ...expected, marker: undefined }),
      ...{ answers: 1, wanted: {}, isOptional: true },
    };
  const plain = [handedOver, ...listed.flatMap((one) => one.plain ?? []), ...(raw ? [raw] : [])];
  return { files, plain };
}

interface PartContext {
  readonly check: PlacementCheck;
  readonly pages: readonly ExpectedFile[];
  readonly host: string | undefined;
  readonly open: (target: ProbeTarget, content: ExpectedContent) => UrlProbe;
}

/** A file of a site; without `?v=` only where it changed. */
function partAddresses(
  part: PlacedPart,
  { check: { placement, expected }, pages, host, open }: PartContext,
): { readonly file: Address; readonly plain: Address | undefined } {
  const { parts = [], refusals, mustBeExternal: isLink = false } = placement;
  const { path, url, earlier } = part;
  const { gone = false } = expected;
  const wantedFile = gone ? null : (part.file ?? part);
  const content = {
    ...{ file: wantedFile, marker: undefined, gone },
    fallbacks: pages.filter((one) => one !== wantedFile),
  };
  const target: ProbeTarget = {
    ...{ url, isPart: true, mustBeExternal: isLink },
    ...(earlier && { earlier }),
    ...(isLink && { home: url }),
    ...(isLink && isHtml(path) && { display: 'page' }),
  };
  const isMany = isLink ? parts.length > SITE.fewLinked : !gone;
  // A link is asked as it is given: nobody knows what its host makes of `?v=`.
  const file: Address = {
    path,
    refusals,
    isLink,
    asBrowser: isLink,
    wanted: { host, ...(part.mayBeServed && { mayBeServed: true }) },
    probe: open({ ...target, bypassCache: !isLink }, content),
    answers: isMany ? 1 : AGREEING_PROBES.usual,
  };
  if (isLink || earlier === undefined) return { file, plain: undefined };
  const plain: Address = {
    ...file,
    probe: open(target, content),
    ...{ wanted: { host, mayBeOld: true }, asBrowser: true, fresh: file },
  };
  return { file, plain };
}

/** The pages that hosts show in place of a missing one. */
const listFallbacks = ({ placement: { parts = [] }, expected: { file } }: PlacementCheck): ExpectedFile[] => [
  ...parts.flatMap((part) => (/^(?:404|200|index)\.html$/.test(part.path) && part.file ? [part.file] : [])),
  ...(file ? [file] : []),
];
