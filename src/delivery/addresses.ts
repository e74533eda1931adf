import type { PlacedPart, Placement } from '../channels/channel.ts';
import type { Ports } from '../ports.ts';
import { AGREEING_PROBES, SITE } from '../protocol/limits.ts';
import { isHtml } from '../rules/page/page-file.ts';
import type { Address, Verdict } from './address-proof.ts';
import { type ExpectedContent, type ExpectedFile, isProof, type ProbeResult } from './match-content.ts';
import { newProbeSession, type ProbeSession } from './probe-session.ts';
import { type ProbeTarget, UrlProbe } from './url-probe.ts';

/** A placement on the way to its proof: what its addresses must show, and how they are asked. */
export interface PlacementCheck {
  readonly placement: Placement;
  readonly expected: ExpectedContent;
  /** Asks the address that is handed over, with `?v=` where a cache has to be got past. */
  readonly probe: UrlProbe;
  readonly session: ProbeSession;
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

/**
 * The address that is handed over. Where the host may rightly change the bytes, the marker is enough if the host also
 * says that it has built our commit, and the page is not older than that commit.
 */
export function pageAddress(
  { placement, expected, probe }: PlacementCheck,
  builtAt: number | undefined,
): Address {
  const { answers = AGREEING_PROBES.usual, bypassCache, hostMayChangeBytes } = placement;
  return {
    path: null,
    open: () => probe,
    // With `?v=` one right answer is enough where the address without it is asked next.
    answers: bypassCache && expected.gone !== true ? 1 : answers,
    isExternal: placement.mustBeExternal === true,
    ...(placement.home && { asBrowser: true }),
    refusals: placement.refusals,
    judge: (result) =>
      isProof(result) || (hostMayChangeBytes && result.match === 'altered' && isNotOlder(result, builtAt))
        ? 'right'
        : 'wrong',
  };
}

const isNotOlder = ({ lastModified }: ProbeResult, builtAt: number | undefined): boolean =>
  builtAt !== undefined && lastModified !== null && lastModified >= builtAt;

/** The other files of a site, each at its own address. */
export function listPartAddresses(
  { placement: { parts = [], refusals, mustBeExternal = false }, expected, session }: PlacementCheck,
  { hosts }: ProbeResult,
  ports: Ports,
): readonly PartAddress[] {
  const { gone = false } = expected;
  const own = mustBeExternal ? [...listFallbacks(parts), ...(expected.file ? [expected.file] : [])] : [];
  return parts.map((part) => {
    const file = gone ? null : (part.file ?? part);
    const target: Omit<ProbeTarget, 'bypassCache'> = {
      ...{ url: part.url, mustBeExternal, isPart: true },
      ...(part.earlier && { earlier: part.earlier }),
      ...(mustBeExternal && { home: part.url }),
      ...(mustBeExternal && isHtml(part.path) && { display: 'page' }),
    };
    const fallbacks = own.filter((one) => one !== file);
    const open = (bypassCache: boolean): UrlProbe =>
      new UrlProbe({ ...target, bypassCache }, { file, marker: undefined, gone, fallbacks }, session, ports);
    // A browser would be at another host after a redirect.
    const judge: Address['judge'] = (result) => judgeCached(result, hosts.at(-1));
    const isMany = mustBeExternal ? parts.length > SITE.fewLinked : !gone;
    const answers = isMany ? 1 : AGREEING_PROBES.usual;
    const plain = { path: part.path, open: () => open(false), answers, judge, refusals, asBrowser: true };
    // A link is asked as it is given: nobody knows what its host makes of `?v=`.
    if (mustBeExternal) return { part, plain, fresh: { ...plain, isAskedAgain: true } };
    return {
      part,
      plain,
      fresh: { ...plain, open: () => open(true), judge: pastCaches(judge), asBrowser: false },
    };
  });
}

/** What the delivery removed. A site's build may have put something else there. */
export function listRemovedAddresses(
  { placement: { removed = [], refusals }, session }: PlacementCheck,
  ports: Ports,
): readonly Address[] {
  const expected = { file: null, marker: undefined, gone: true };
  return removed.map(({ path, url, earlier = [] }) => ({
    ...{ path, answers: AGREEING_PROBES.usual, refusals },
    open: () => new UrlProbe({ url, bypassCache: true, isPart: true, earlier }, expected, session, ports),
    judge: ({ match }) => (match === 'gone' || match === 'served' ? 'right' : 'wrong'),
  }));
}

/** The pages that hosts show in place of a missing one. */
const listFallbacks = (parts: readonly PlacedPart[]): readonly ExpectedFile[] =>
  parts.flatMap(({ path, file }) => (/^(?:404|200|index)\.html$/.test(path) && file ? [file] : []));

export interface PartAddress {
  readonly part: PlacedPart;
  readonly fresh: Address;
  readonly plain: Address;
}

/** An answer that a cache may have given: right, or the copy from before. @param host where it must come from */
export function judgeCached(result: ProbeResult, host: string | undefined): Verdict {
  if (host !== undefined && result.hosts.at(-1) !== host) return 'wrong';
  return isProof(result) ? 'right' : result.match === 'previous' ? 'old' : 'wrong';
}

/** With `?v=` no cache has answered: the copy from before is wrong. */
const pastCaches =
  (judge: Address['judge']): Address['judge'] =>
  (result) =>
    judge(result) === 'right' ? 'right' : 'wrong';

/**
 * The address as it is handed over: it must show what the proof saw, or the copy from before that a cache still has. A
 * page that the host renders is known by its date to be from before.
 */
export function plainAddress(
  { placement, expected, session }: PlacementCheck,
  proven: ProbeResult,
  builtAt: number | undefined,
  ports: Ports,
): Address {
  const probe = new UrlProbe({ ...placement, bypassCache: false }, expected, session, ports);
  const isBytes = isProof(proven);
  return {
    path: null,
    open: () => probe,
    answers: AGREEING_PROBES.usual,
    refusals: placement.refusals,
    judge(result) {
      if (isBytes || result.match === 'previous') return judgeCached(result, proven.hosts.at(-1));
      if (result.hosts.at(-1) !== proven.hosts.at(-1) || result.httpCode !== 200) return 'wrong';
      if (result.fingerprint?.sha256 === proven.fingerprint?.sha256) {
        return result.match === 'not-shown' ? 'wrong' : 'right';
      }
      const isContent = result.match === 'altered' || result.match === 'different';
      return isContent && result.lastModified !== null && !isNotOlder(result, builtAt) ? 'old' : 'wrong';
    },
  };
}
