import type { ExpectedFile, PlacedPart, Placement } from '../channels/channel.ts';
import { AGREEING_PROBES, LATER_PROBE, SITE } from '../protocol/limits.ts';
import { isHtml } from '../rules/page/page-file.ts';
import type { PlacedAttempt } from './delivery.ts';
import { type ProbeResult, provesAlone } from './probe-result.ts';

/** One address to prove, with what it must show and how it is asked: a row of the list that the loop goes through. */
export interface Address
  extends Omit<PlacedPart, 'path'>,
    Pick<Placement, 'bypassCache' | 'isLink' | 'display' | 'isInBin' | 'home' | 'refusals'> {
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address any more. */
  readonly gone?: boolean;
  /** Its path within a site; `null` for the page whose address is handed over. */
  readonly path: string | null;
  /** How many answers in a row must be right. */
  readonly answers: number;
  /** Milliseconds between the first two of them: a link may open only once, or for a moment. */
  readonly pause?: number;
  /** Pages that a host may show in place of a missing one. */
  readonly fallbacks?: readonly ExpectedFile[];
  /** Whether every answer, or none, is asked for as a browser does; where absent, the second one is. */
  readonly asBrowser?: boolean;
  /** Where a browser must end after redirects. */
  readonly host?: string | undefined;
  /** Whether a cache may have answered: then the copy from before counts after some looks. */
  readonly mayBeOld?: boolean;
  /** Whether the host may rightly change it: bytes with the marker are enough if they are not older than what it has built. */
  readonly mayBeBuilt?: boolean | undefined;
  /** Of such a page without `?v=`: the bytes that were seen with it, which it must have. */
  readonly builtSha256?: string | undefined;
  /** Whether a few looks are enough, and none has to be right. */
  readonly isOptional?: boolean;
  /** The same address with `?v=`: asked again where a cache still has the copy from before. */
  readonly fresh?: Address;
}

/** What an answer is: what is wanted, the copy from before that a cache may have, or anything else. */
export type Verdict = 'right' | 'old' | 'wrong';

/** @param builtAt when the commit was made that the host says it has built: milliseconds since the epoch */
export function judgeAnswer(
  { match, lastModified, fingerprint, hosts }: ProbeResult,
  { host, mayBeOld, mayBeServed, mayBeBuilt = false, builtSha256 }: Address,
  builtAt: number | undefined,
): Verdict {
  if (host !== undefined && hosts.at(-1) !== host) return 'wrong';
  const isDated = mayBeBuilt && builtAt !== undefined && lastModified !== null;
  const isOlder = isDated && lastModified < builtAt;
  if (provesAlone({ match }) || (mayBeServed && match === 'served' && !isOlder)) return 'right';
  if (match === 'previous') return mayBeOld ? 'old' : 'wrong';
  const isNew = builtSha256 === undefined ? isDated && !isOlder : builtSha256 === fingerprint?.sha256;
  if (mayBeBuilt && match === 'altered' && isNew) return 'right';
  // A page that the host renders is known by its date to be from before.
  return mayBeOld && isOlder && (match === 'altered' || match === 'different') ? 'old' : 'wrong';
}

/** The address that is handed over, with `?v=` against caches. */
export function pageAddress({ placement, marker, gone }: PlacedAttempt): Address {
  const { answers = AGREEING_PROBES.usual, bypassCache, home, isLink, parts = [] } = placement;
  // With `?v=` one right answer is enough where the address without it is asked next; and where the page of a link's
  // site is asked again after the other files.
  const isAskedAgain = isLink ? parts.length > 0 : bypassCache && !gone;
  return {
    ...placement,
    path: null,
    marker,
    gone,
    answers: isAskedAgain ? 1 : answers,
    mayBeBuilt: placement.hostMayChangeBytes || placement.mayBeServed,
    ...(home && { asBrowser: true }),
    ...(isLink && { pause: LATER_PROBE }),
  };
}

/** What is asked after the page: the site's other files; then without `?v=` the page, what changed, and the raw. */
export function listFurther(
  { placement, gone }: PlacedAttempt,
  page: Address,
  seen: ProbeResult,
): { readonly files: readonly Address[]; readonly asOpened: readonly Address[] } {
  const { bypassCache, rawUrl, file } = placement;
  const files = listParts(placement, page.host);
  if (!bypassCache || gone) return { files, asOpened: [] };
  const changed = files.filter((one) => one.earlier !== undefined && !one.gone);
  const toOpened = (fresh: Address): Address => ({
    ...fresh,
    bypassCache: false,
    mayBeOld: true,
    fresh,
  });
  const handedOver: Address = {
    ...toOpened(page),
    answers: AGREEING_PROBES.usual,
    mayBeBuilt: page.mayBeBuilt && !provesAlone(seen),
    builtSha256: seen.fingerprint?.sha256,
    // Of a node of the host that is late as a whole, the copy with `?v=` is old as well.
    fresh: { ...page, answers: AGREEING_PROBES.usual },
  };
  const asOpened = [handedOver, ...changed.map((one) => ({ ...toOpened(one), asBrowser: true }))];
  if (rawUrl && file) {
    const raw = { path: 'the raw address', url: rawUrl, file, marker: undefined };
    asOpened.push({ ...raw, answers: 1, isOptional: true });
  }
  return { files, asOpened };
}

/** The other files of a site. A link is asked as it is given: nobody knows what its host makes of `?v=`. */
function listParts(placement: Placement, host: string | undefined): readonly Address[] {
  const { file: entry, parts = [], refusals, isLink = false } = placement;
  const pages = isLink ? parts.flatMap((one) => (FALLBACK.test(one.path) && one.file ? [one.file] : [])) : [];
  const fallbacks = isLink && entry ? [...pages, entry] : pages;
  return parts.map((part): Address => {
    const { path, url, file } = part;
    const gone = file === null;
    const isMany = isLink ? parts.length > SITE.fewLinked : !gone;
    return {
      ...part,
      refusals,
      host,
      marker: undefined,
      gone,
      isLink,
      bypassCache: !isLink,
      asBrowser: isLink,
      answers: isMany ? 1 : AGREEING_PROBES.usual,
      fallbacks: fallbacks.filter((one) => one !== file),
      ...(isLink && { home: url }),
      ...(isLink && isHtml(path) && { display: 'page' }),
    };
  });
}

/** The pages that hosts show in place of a missing one. */
const FALLBACK = /^(?:404|200|index)\.html$/;
