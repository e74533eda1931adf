import { countFiles } from '../plain-text.ts';
import type { AddressProof } from '../proof/address-proof.ts';
import {
  countMarker,
  describeCacheEnd,
  describeCacheTime,
  type ProbeResult,
  type Proof,
  type ProvenMatch,
  type ProvenSubject,
} from '../proof/probe-result.ts';
import { type ProvenChecks, proveAll } from '../proof/prove-all.ts';
import { SITE } from '../protocol/limits.ts';
import type { PlacedAttempt } from './delivery.ts';

/**
 * VERIFY: proves what was placed, and tells what that leaves open.
 *
 * @param first the address that is handed over; what a wait has seen there is not asked again
 * @throws {DeliveryError} as `proveAll`
 */
export async function verifyPlacement(
  { placement, marker, gone }: PlacedAttempt,
  first: AddressProof,
): Promise<{ readonly proof: Proof; readonly unknown: readonly string[] }> {
  const { check, run } = first;
  const { commitSha, others = [] } = placement;
  const { sha256, blobSha = '' } = check.expect.file ?? {};
  const version = (commitSha ?? sha256 ?? blobSha).slice(0, 12);
  const proven = await proveAll(first, others, version);
  const { page, files, opened } = proven;
  // Another file of the branch has the address of what was removed.
  const isReplaced = page.match === 'served';
  const isUnasked = check.versioned && gone;
  const raw = opened.find((one) => one.check.onFailure === 'note' && one.proven);
  const seen: readonly [ProbeResult, ...ProbeResult[]] = [page, ...files.flatMap((one) => one.proven ?? [])];
  return {
    proof: {
      httpCode: page.httpCode ?? 0,
      markerCount: countMarker(page, marker),
      sha256: isReplaced ? null : (page.fingerprint?.sha256 ?? null),
      match: isReplaced ? 'gone' : (page.match as ProvenMatch),
      hosts: page.hosts,
      further: gone ? [] : files.slice(0, SITE.subjects).flatMap(toSubject),
      rawUrl: raw?.check.url ?? null,
      isDownload: page.isDownload === true,
      ...describeVersioned(proven, run.ports.clock.date()),
      isCached: isUnasked,
      isInternal: run.internalReason !== '',
      ...(run.downloads > 0 && { downloads: run.downloads }),
    },
    unknown: [
      ...(run.internalReason
        ? [`whether the address opens outside this network: ${run.internalReason}`]
        : []),
      ...check.host.describe(seen, check, run.downloads),
      ...(isUnasked ? [UNASKED_CACHES] : describeOld(opened)),
      ...opened.filter((one) => one.proven === undefined).map(describeRaw),
    ],
  };
}

/** The address that is handed over while a cache shows an earlier version of the page. */
function describeVersioned({ versioned }: ProvenChecks, now: number): Pick<Proof, 'versioned'> {
  if (versioned === undefined) return {};
  const until = describeCacheEnd(versioned.keptFor, now);
  const note = `the address without ?v= may still show the earlier version ${until}`;
  return { versioned: { url: versioned.url, note } };
}

/** What was removed from a site answers nothing. */
const toSubject = ({ check, proven }: AddressProof): readonly ProvenSubject[] =>
  check.expect.file === undefined || proven?.fingerprint == null
    ? []
    : [{ url: check.url.href, sha256: proven.fingerprint.sha256 }];

/** A look at what is withdrawn would be kept as a 404, and its next delivery would not be seen for as long. */
const UNASKED_CACHES =
  'whether caches still show it without ?v= and at the raw address, for up to ten minutes';

/** Of how many files besides the page caches still have an older copy, and for how long. */
function describeOld(opened: readonly AddressProof[]): readonly string[] {
  const all = opened.filter(({ isOld }) => isOld);
  const old = all.filter(({ check }) => check.path !== null);
  if (old.length === 0) return [];
  const times = old.map(({ keptFor }) => keptFor);
  const time = describeCacheTime(times.includes(null) ? null : Math.max(...times.map(Number)));
  const page = all.length > old.length ? 'besides the page' : 'but not of the page';
  return [
    `without ?v= a cache still answered older copies of ${countFiles(old.length)}, ${page}; it may show them ${time}`,
  ];
}

function describeRaw({ check: { path }, last }: AddressProof): string {
  const why = last?.match === 'login' ? 'answers with a login page' : 'did not show the file yet';
  return `${path} ${why}, so it was not verified`;
}
