import { DeliveryError } from '../errors.ts';
import { countFiles, nameFew } from '../plain-text.ts';
import { AGREEING_PROBES, SITE } from '../protocol/limits.ts';
import { withVersion } from '../rules/naming.ts';
import { AddressProof } from './address-proof.ts';
import { type Address, listFurther } from './addresses.ts';
import type { PlacementCheck } from './ask-address.ts';
import {
  countMarker,
  describeCacheEnd,
  describeCacheTime,
  describeProbe,
  type ProbeResult,
  type Proof,
  type ProvenMatch,
  type ProvenSubject,
} from './probe-result.ts';
import { prove } from './prove.ts';

/**
 * VERIFY. The order: the address to hand over with `?v=`; the other files; then, without `?v=`, the first one as it is
 * opened and those that changed. A wrong answer without `?v=` would stay in a cache, so none is asked for too early.
 *
 * @param page the address that is handed over; what a wait has seen there is not asked again
 * @throws {DeliveryError} `NOT_PROVEN` with what an address showed last; `NOT_EXTERNAL`.
 * @see protocol 4.2, 4.5
 */
export async function verifyPlacement(
  page: AddressProof,
): Promise<{ readonly proof: Proof; readonly unknown: readonly string[] }> {
  const { check } = page;
  const { placement, marker, gone } = check.attempt;
  await prove([page]);
  const result = page.proven;
  if (result === undefined) throw new DeliveryError('INTERNAL', 'an address was left out of its proof');
  check.ports.logger.info(describeProbe(result));
  const { files, opened, versioned } = await proveFurther(page, result);
  const isRawProven = opened.some(({ address, proven }) => address.isOptional && proven);
  // Another file of the branch has the address of what was removed.
  const isReplaced = result.match === 'served';
  const isUnasked = placement.bypassCache === true && gone;
  return {
    proof: {
      httpCode: result.httpCode ?? 0,
      markerCount: countMarker(result, marker),
      sha256: isReplaced ? null : (result.fingerprint?.sha256 ?? null),
      match: isReplaced ? 'gone' : (result.match as ProvenMatch),
      hosts: result.hosts,
      further: gone ? [] : files.slice(0, SITE.subjects).flatMap(toSubject),
      rawUrl: (isRawProven && placement.rawUrl) || null,
      isDownload: result.isDownload === true,
      ...(versioned && { versioned }),
      isCached: isUnasked,
      isInternal: check.internalReason !== '',
      ...(placement.isInBin && { downloads: check.downloads }),
    },
    unknown: [
      ...describePage(check, result, files),
      ...(isUnasked ? [UNASKED_CACHES] : describeOld(opened)),
      ...opened.filter(({ proven }) => proven === undefined).map(describeRaw),
    ],
  };
}

/** What is asked once the page is right; without `?v=` some may stay unproven. */
async function proveFurther(page: AddressProof, result: ProbeResult) {
  const { check } = page;
  const { attempt, ports } = check;
  const further = listFurther(attempt, { ...page.address, host: result.hosts.at(-1) }, result);
  const open = (rows: readonly Address[]) => rows.map((one) => new AddressProof(one, check));
  const { parts = [], isLink } = attempt.placement;
  const removed = parts.filter(({ file }) => file === null).length;
  const others = `${countFiles(parts.length - removed)}, and ${removed} that were removed`;
  if (parts.length > 0) ports.logger.info(`further: ${others}`);
  const files = open(further.files);
  await prove(files);
  if (isLink && files.length > 0) await proveTogether(page, files);
  const opened = open(further.asOpened);
  if (opened.length > 0) ports.logger.info('without ?v=, as a person will open it');
  await prove(opened);
  // A cache with the old copy says nothing of the new one: that must still be there.
  await prove(open(opened.flatMap(({ isOld, address }) => (isOld && address.fresh) || [])));
  const late = opened.find(({ isOld, address }) => isOld && address.path === null);
  return { files, opened, versioned: late && (await proveVersioned(late)) };
}

/** The address that is handed over while a cache shows an earlier version of the page: it is proven as it is. */
async function proveVersioned({ address, check, keptFor }: AddressProof): Promise<Proof['versioned']> {
  const { file, commitSha } = check.attempt.placement;
  const url = withVersion(address.url, (commitSha ?? file?.sha256 ?? check.nextStamp()).slice(0, 12));
  const { fresh: _, ...rest } = address;
  await prove([new AddressProof({ ...rest, url, mayBeOld: false }, check)]);
  const until = describeCacheEnd(keptFor, check.ports.clock.date());
  return { url, note: `the address without ?v= may still show the earlier version ${until}` };
}

/** A link's addresses must all be right together: its page is asked again after its files; these, if any was late. */
async function proveTogether(page: AddressProof, files: readonly AddressProof[]): Promise<void> {
  const { check, address, proven } = page;
  const isFresh = files.every((one) => one.looks === 1 && !one.proven?.age);
  // After many files that no cache answered, its page was not there by chance.
  const isManyFresh = files.length > SITE.fewLinked && isFresh && !proven?.age;
  const host = proven?.hosts.at(-1);
  const pause = isManyFresh ? 0 : (address.pause ?? 0);
  const again = new AddressProof({ ...address, host, answers: AGREEING_PROBES.usual, pause }, check, page);
  await prove([again]).finally(() => {
    page.last = again.last;
  });
  const wasLate = again.looks > 1;
  const older = files.filter((one) => wasLate || one.looks === 1);
  if (!wasLate && older.length === files.length) return;
  if (older.length > 0) check.ports.logger.info(`once more: ${countFiles(older.length)}`);
  await prove(older.map((one) => new AddressProof(one.address, check)));
}

/** What was removed from a site answers nothing. */
const toSubject = ({ address: { url, gone }, proven }: AddressProof): readonly ProvenSubject[] =>
  gone || proven?.fingerprint == null ? [] : [{ url: url.href, sha256: proven.fingerprint.sha256 }];

/** A look at what is withdrawn would be kept as a 404, and its next delivery would not be seen for as long. */
const UNASKED_CACHES =
  'whether caches still show it without ?v= and at the raw address, for up to ten minutes';

/** Of how many files besides the page caches still have an older copy, and for how long. */
function describeOld(opened: readonly AddressProof[]): readonly string[] {
  const all = opened.filter(({ isOld }) => isOld);
  const old = all.filter(({ address }) => address.path !== null);
  if (old.length === 0) return [];
  const times = old.map(({ keptFor }) => keptFor);
  const time = describeCacheTime(times.includes(null) ? null : Math.max(...times.map(Number)));
  const page = all.length > old.length ? 'besides the page' : 'but not of the page';
  return [
    `without ?v= a cache still answered older copies of ${countFiles(old.length)}, ${page}; it may show them ${time}`,
  ];
}

function describeRaw({ address: { path }, last }: AddressProof): string {
  const why = last?.match === 'login' ? 'answers with a login page' : 'did not show the file yet';
  return `${path} ${why}, so it was not verified`;
}

/** What the answers with `?v=` leave open: of the page itself, and of a link all of them together. */
function describePage(
  { attempt: { placement, gone }, internalReason, downloads }: PlacementCheck,
  result: ProbeResult,
  files: readonly AddressProof[],
): readonly string[] {
  const { url, bypassCache, isLink, isInBin } = placement;
  const end = result.hosts.at(-1);
  const found = isLink ? [result, ...files.flatMap(({ proven }) => proven ?? [])] : [];
  const added = [...new Set(found.flatMap((one) => one.added ?? []))];
  const lines: readonly (readonly [boolean, string])[] = [
    [internalReason !== '', `whether the address opens outside this network: ${internalReason}`],
    [
      // A page of K1 may be at another host, such as the site's own domain, and the file of a link in a store.
      !gone && (bypassCache || isLink === true) && end !== url.host,
      `whether ${end}, where the address leads to, is a part of the site: what it shows can change without ${isLink ? 'the link' : 'the repository'}`,
    ],
    [
      isInBin === true && !result.opensAgain,
      `whether the file can be downloaded again: the bin host may limit downloads, and the proof was ${downloads} of them`,
    ],
    [added.length > 0, `what the link's host has added to its pages does: ${nameFew(added)}`],
    [
      found.some((one) => one.added?.length === 0),
      "whether its pages look the same: the link's host has changed spaces or line breaks, which count in preformatted text",
    ],
    [
      found.some((one) => one.isElsewhere),
      "where addresses lead that styles and scripts make: the link's host answers in another folder than the file's",
    ],
    [
      found.some((one) => one.hasPolicy),
      "what the Content-Security-Policy of the link's host keeps from working",
    ],
  ];
  return lines.flatMap(([isMeant, line]) => (isMeant ? [line] : []));
}
