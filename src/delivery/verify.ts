import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import { countFiles, nameFew } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { FURTHER_PROBES } from '../protocol/limits.ts';
import type { Address, ProvenAddress } from './address-proof.ts';
import {
  judgeCached,
  listPartAddresses,
  listRemovedAddresses,
  type PartAddress,
  type PlacementCheck,
  pageAddress,
  plainAddress,
} from './addresses.ts';
import type { ChannelAttempt, Proof } from './delivery.ts';
import { countMarker, describeCacheTime, describeProbe, type ProofWords } from './describe-probe.ts';
import { isProof, type ProbeResult, type ProvenMatch } from './match-content.ts';
import { prove } from './prove.ts';
import { type ProbeTarget, UrlProbe } from './url-probe.ts';
import type { WaitLimits } from './wait-log.ts';

/**
 * VERIFY: proves every address of a placement, in this order: the one to hand over with `?v=`; the other files of a
 * site; the first one as it is handed over, and those of the others that changed, without `?v=`. Nothing is asked
 * without `?v=` before it is right with it, and nothing that was withdrawn: a cache would keep our own 404 for
 * everybody. The raw address is asked at the same time; the delivery does not fail by it.
 *
 * @param builtAt when the commit was made that the host says it has built: what it renders must not be older
 * @throws {DeliveryError} `NOT_PROVEN` with what an address showed last; `NOT_EXTERNAL`.
 * @see protocol 4.2, 4.5, design 5
 */
export async function verifyPlacement(
  check: PlacementCheck,
  builtAt: number | undefined,
  limits: WaitLimits,
  ports: Ports,
): Promise<Pick<ChannelAttempt, 'rawUrl' | 'unknown'> & { readonly proof: Proof }> {
  const { expected, session } = check;
  const result = await provePage(check, builtAt, limits, ports);
  const parts = listPartAddresses(check, result, ports);
  const [rest, raw] = await Promise.allSettled([
    proveRest(check, { parts, result, builtAt }, limits, ports),
    verifyRawAddress(check, limits, ports),
  ]);
  if (rest.status === 'rejected') throw rest.reason;
  if (raw.status === 'rejected') throw raw.reason;
  const unknown = [...describePage(check, result), ...rest.value.unknown, ...raw.value.unknown];
  return {
    proof: {
      httpCode: result.httpCode ?? 0,
      markerCount: countMarker(result, expected),
      sha256: result.fingerprint?.sha256 ?? null,
      match: result.match as ProvenMatch,
      hosts: result.hosts,
      parts: rest.value.identical,
      isCached: rest.value.isCached,
      isInternal: session.internalReason !== '',
    },
    rawUrl: raw.value.rawUrl,
    unknown,
  };
}

/** The first step of the proof: the address that is handed over, with `?v=` against caches. */
export async function provePage(
  check: PlacementCheck,
  builtAt: number | undefined,
  limits: WaitLimits,
  ports: Ports,
): Promise<ProbeResult> {
  const { last } = check.probe;
  const known = last !== null && isProof(last) ? last : undefined;
  const words = { which: '', gone: check.expected.gone ?? false };
  const page = pageAddress(check, builtAt);
  // Of a link's site, the answer that follows some seconds later is waited for while the other files are asked.
  const { bypassCache, parts = [] } = check.placement;
  const answers = bypassCache || parts.length === 0 ? page.answers : 1;
  const [{ result } = noAnswer()] = await prove([{ ...page, known, answers }], words, limits, ports);
  ports.logger.info(describeProbe(result));
  return result;
}

/** The loop returns every address that it was given. */
function noAnswer(): never {
  throw new DeliveryError('INTERNAL', 'an address was left out of its proof');
}

/** A page that was proven with `?v=`, and what is asked next. */
interface ProvenPage {
  readonly parts: readonly PartAddress[];
  readonly result: ProbeResult;
  readonly builtAt: number | undefined;
}

/** What is known of a site beside its page. */
interface ProvenRest extends Pick<Proof, 'isCached'> {
  /** How many further files are there as they were delivered. */
  readonly identical: number;
  /** What a cache still has, or the host has added. */
  readonly unknown: readonly string[];
}

/**
 * What follows the first proof: the other files of a site, and then what a person's browser gets, without `?v=`. Of a
 * link, which is asked without it anyway, the page is asked again where others are late.
 */
async function proveRest(
  check: PlacementCheck,
  { parts, result, builtAt }: ProvenPage,
  limits: WaitLimits,
  ports: Ports,
): Promise<ProvenRest> {
  const { placement, expected } = check;
  const isLink = !placement.bypassCache;
  const known = isLink ? nameBytes(parts, result) : undefined;
  const words: ProofWords = { which: '', gone: expected.gone ?? false, host: result.hosts.at(-1), known };
  const asked = pageAddress(check, builtAt);
  const page = { ...asked, answers: 1 };
  const link = { ...asked, known: result, isAskedAgain: true };
  const removed = listRemovedAddresses(check, ports);
  const further = [...(isLink ? [link] : []), ...parts.map(({ fresh }) => fresh)];
  if (parts.length > 0) ports.logger.info(`further: ${countFiles(parts.length)}`);
  if (removed.length > 0) ports.logger.info(`removed: ${countFiles(removed.length)}`);
  const asksMore = parts.length + removed.length > 0;
  const found = asksMore ? await prove([...further, ...removed], words, limits, ports) : [];
  const identical = found.filter(
    ({ address, result: one }) =>
      address.path !== null && one.match !== 'extended' && !removed.includes(address),
  );
  const rest = { identical: identical.length, isCached: false };
  const results = found.length === 0 ? [result] : found.map((one) => one.result);
  if (isLink) return { ...rest, unknown: describeLink(results) };
  if (words.gone) return { ...rest, isCached: true, unknown: [UNASKED_CACHES] };
  ports.logger.info('without ?v=, as a person will open it');
  const plain = plainAddress(check, result, builtAt, ports);
  const changed = parts.filter(({ part }) => part.earlier !== undefined);
  const freshOf = new Map([[plain, page], ...changed.map((one) => [one.plain, one.fresh] as const)]);
  const proven = await prove([...freshOf.keys()], { ...words, which: 'without ?v=' }, limits, ports);
  const old = proven.filter(({ isOld }) => isOld);
  // A cache with the old copy says nothing of the new one: that must still be there.
  const again = old.flatMap(({ address }) => freshOf.get(address) ?? []);
  if (again.length > 0) await prove(again, words, limits, ports);
  return { ...rest, isCached: old.length > 0, unknown: describeOld(old) };
}

/** What the bytes of a site are, by which an answer in place of a missing file is recognized. */
const nameBytes = (parts: ProvenPage['parts'], page: ProbeResult): ReadonlyMap<string, string> =>
  new Map([
    ...parts.map(({ part }) => [part.sha256 ?? '', part.path] as const),
    [page.fingerprint?.sha256 ?? '', 'the page of the site'],
  ]);

/** A look at what is withdrawn would be kept as a 404, and its next delivery would not be seen for as long. */
const UNASKED_CACHES =
  'whether caches still show it without ?v= and at the raw address, for up to ten minutes';

/** What caches still have: of one address what and how long, of several how many. */
function describeOld(old: readonly ProvenAddress[]): readonly string[] {
  if (old.length === 0) return [];
  const times = old.map(({ result }) => result.keptFor);
  const time = describeCacheTime(times.includes(null) ? null : Math.max(...times.map(Number)));
  const isPage = old.length === 1 && old[0]?.address.path === null;
  return [
    isPage
      ? `the address without ?v= still answered an older copy; a cache may show it ${time}`
      : `without ?v= a cache still answered older copies of ${countFiles(old.length)}; it may show them ${time}`,
  ];
}

/** The raw address: a few looks, of which one must show the file's very bytes. @see protocol 4.2 */
async function verifyRawAddress(
  { placement: { rawUrl }, expected, session }: PlacementCheck,
  limits: WaitLimits,
  ports: Ports,
): Promise<Pick<ChannelAttempt, 'rawUrl' | 'unknown'>> {
  if (rawUrl === undefined || expected.file === null) return { rawUrl: null, unknown: [] };
  ports.logger.info('the raw address, at the same time');
  const target: ProbeTarget = { url: rawUrl, bypassCache: false, mustBeExternal: false };
  const probe = new UrlProbe(target, { ...expected, marker: undefined }, session, ports);
  const judge: Address['judge'] = (result) => judgeCached(result, undefined);
  const address: Address = { path: null, open: () => probe, answers: 1, judge };
  // A request that has begun may take longer: a large file needs its time.
  const soon = ports.clock.now() + limits.interval * (FURTHER_PROBES - 1);
  const few = { ...limits, deadline: Math.min(soon, limits.deadline) };
  const proven = await resultOf(() => prove([address], { which: '', gone: false }, few, ports));
  if (!hasFailed(proven)) return { rawUrl, unknown: [] };
  if (!RAW_FAILURES.includes(proven.code)) throw proven;
  const why = probe.last?.match === 'login' ? 'answers with a login page' : 'did not show the file yet';
  return { rawUrl: null, unknown: [`the raw address ${why}, so it was not verified`] };
}

/** The raw address is not proven, or on this machine: it is not handed over then. */
const RAW_FAILURES: readonly string[] = ['NOT_PROVEN', 'NOT_EXTERNAL'];

/** What the answer of the page itself leaves open. */
function describePage(
  { placement: { url, bypassCache }, expected: { gone = false }, session }: PlacementCheck,
  { hosts }: ProbeResult,
): readonly string[] {
  const { internalReason } = session;
  const end = hosts.at(-1);
  // A page of K1 may be at another host, such as the site's own domain. @see design 5 (K1)
  const isElsewhere = !gone && bypassCache && end !== undefined && end !== url.host;
  return [
    ...(internalReason === '' ? [] : [`whether the address opens outside this network: ${internalReason}`]),
    ...(isElsewhere
      ? [
          `whether ${end}, where the address leads to, is a part of the site: what it shows can change without the repository`,
        ]
      : []),
  ];
}

/** What the answers of a link's host leave open, all of them together. */
function describeLink(results: readonly ProbeResult[]): readonly string[] {
  const describe = (found: readonly ProbeResult[], toText: (pages: string) => string): readonly string[] =>
    found.length === 0 ? [] : [toText(found.length === 1 ? 'the page' : `${found.length} pages`)];
  const changed = results.filter((one) => one.added !== undefined);
  const added = [...new Set(changed.flatMap((one) => one.added ?? []))];
  return [
    ...describe(changed, (pages) =>
      added.length === 0
        ? `whether ${pages} looks the same: the link's host has changed spaces or line breaks, which count in preformatted text`
        : `what the link's host has added to ${pages} does: ${nameFew(added)}`,
    ),
    ...describe(
      results.filter(({ isElsewhere }) => isElsewhere),
      (pages) =>
        `where addresses lead that styles and scripts of ${pages} make: the link's host answers in another folder than the file's`,
    ),
    ...describe(
      results.filter(({ hasPolicy }) => hasPolicy),
      (pages) => `what the Content-Security-Policy of the link's host keeps from working on ${pages}`,
    ),
  ];
}
