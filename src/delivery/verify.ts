import { OWN_HOST } from '../channels/host-rules.ts';
import { DeliveryError } from '../errors.ts';
import { countFiles, nameFew } from '../plain-text.ts';
import { AddressProof } from '../proof/address-proof.ts';
import type { ProofRun } from '../proof/ask-address.ts';
import type { Check } from '../proof/check.ts';
import {
  countMarker,
  describeCacheEnd,
  describeCacheTime,
  describeProbe,
  type ProbeResult,
  type Proof,
  type ProvenMatch,
  type ProvenSubject,
} from '../proof/probe-result.ts';
import { prove } from '../proof/prove.ts';
import { AGREEING_PROBES, SITE } from '../protocol/limits.ts';
import { withVersion } from '../rules/naming.ts';
import { listFurther } from './addresses.ts';
import type { PlacedAttempt } from './delivery.ts';

/**
 * VERIFY. The order: the address to hand over with `?v=`; the other files; then, without `?v=`, the first one as it is
 * opened and those that changed. A wrong answer without `?v=` would stay in a cache, so none is asked for too early.
 *
 * @param page the address that is handed over; what a wait has seen there is not asked again
 * @throws {DeliveryError} `NOT_PROVEN` with what an address showed last; `NOT_EXTERNAL`.
 * @see protocol 4.2, 4.5
 */
export async function verifyPlacement(
  attempt: PlacedAttempt,
  page: AddressProof,
): Promise<{ readonly proof: Proof; readonly unknown: readonly string[] }> {
  const { run } = page;
  const { placement, marker, gone } = attempt;
  await prove([page]);
  const result = page.proven;
  if (result === undefined) throw new DeliveryError('INTERNAL', 'an address was left out of its proof');
  run.ports.logger.info(describeProbe(result));
  const { files, opened, versioned } = await proveFurther(attempt, page, result);
  const isRawProven = opened.some(({ check, proven }) => check.isOptional && proven);
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
      isInternal: run.internalReason !== '',
      ...(run.downloads > 0 && { downloads: run.downloads }),
    },
    unknown: [
      ...describePage(attempt, run, [result, ...files.flatMap(({ proven }) => proven ?? [])]),
      ...(isUnasked ? [UNASKED_CACHES] : describeOld(opened)),
      ...opened.filter(({ proven }) => proven === undefined).map(describeRaw),
    ],
  };
}

/** What is asked once the page is right; without `?v=` some may stay unproven. */
async function proveFurther(attempt: PlacedAttempt, page: AddressProof, result: ProbeResult) {
  const { run } = page;
  const { ports } = run;
  const further = listFurther(attempt, { ...page.check, endsOn: result.hosts.at(-1) }, result);
  const open = (rows: readonly Check[]) => rows.map((one) => new AddressProof(one, run));
  const { parts = [] } = attempt.placement;
  const removed = parts.filter(({ file }) => file === null).length;
  const others = `${countFiles(parts.length - removed)}, and ${removed} that were removed`;
  if (parts.length > 0) ports.logger.info(`further: ${others}`);
  const files = open(further.files);
  await prove(files);
  if (page.check.host.asksPageAgain && files.length > 0) await proveTogether(page, files);
  const opened = open(further.asOpened);
  if (opened.length > 0) ports.logger.info('without ?v=, as a person will open it');
  await prove(opened);
  // A cache with the old copy says nothing of the new one: that must still be there.
  await prove(open(opened.flatMap(({ isOld, check }) => (isOld && check.fresh) || [])));
  const late = opened.find(({ isOld, check }) => isOld && check.path === null);
  return { files, opened, versioned: late && (await proveVersioned(attempt, late)) };
}

/** The address that is handed over while a cache shows an earlier version of the page: it is proven as it is. */
async function proveVersioned(
  { placement: { file, commitSha } }: PlacedAttempt,
  { check, run, keptFor }: AddressProof,
): Promise<Proof['versioned']> {
  const url = withVersion(check.url, (commitSha ?? file?.sha256 ?? run.nextStamp()).slice(0, 12));
  const { fresh: _, ...rest } = check;
  await prove([new AddressProof({ ...rest, url, mayBeOld: false }, run)]);
  const until = describeCacheEnd(keptFor, run.ports.clock.date());
  return { url, note: `the address without ?v= may still show the earlier version ${until}` };
}

/** A link's addresses must all be right together: its page is asked again after its files; these, if any was late. */
async function proveTogether(page: AddressProof, files: readonly AddressProof[]): Promise<void> {
  const { run, check, proven } = page;
  const isFresh = files.every((one) => one.looks === 1 && !one.proven?.age);
  // After many files that no cache answered, its page was not there by chance.
  const isManyFresh = files.length > SITE.fewLinked && isFresh && !proven?.age;
  const endsOn = proven?.hosts.at(-1);
  const pause = isManyFresh ? 0 : (check.pause ?? 0);
  const again = new AddressProof({ ...check, endsOn, answers: AGREEING_PROBES.usual, pause }, run, page);
  await prove([again]).finally(() => {
    page.last = again.last;
  });
  const wasLate = again.looks > 1;
  const older = files.filter((one) => wasLate || one.looks === 1);
  if (!wasLate && older.length === files.length) return;
  if (older.length > 0) run.ports.logger.info(`once more: ${countFiles(older.length)}`);
  await prove(older.map((one) => new AddressProof(one.check, run)));
}

/** What was removed from a site answers nothing. */
const toSubject = ({ check: { url, gone }, proven }: AddressProof): readonly ProvenSubject[] =>
  gone || proven?.fingerprint == null ? [] : [{ url: url.href, sha256: proven.fingerprint.sha256 }];

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

/** What the answers with `?v=` leave open: of the page itself, and of a link all of them together. */
function describePage(
  { placement, gone }: PlacedAttempt,
  { internalReason, downloads }: ProofRun,
  seen: readonly [ProbeResult, ...ProbeResult[]],
): readonly string[] {
  const [result] = seen;
  const { url, bypassCache, host = OWN_HOST } = placement;
  const end = result.hosts.at(-1);
  const found = host.addsToPages ? seen : [];
  const added = [...new Set(found.flatMap((one) => one.added ?? []))];
  const lines: readonly (readonly [boolean, string])[] = [
    [internalReason !== '', `whether the address opens outside this network: ${internalReason}`],
    [
      // A page of K1 may be at another host, such as the site's own domain, and the file of a link in a store.
      !gone && (bypassCache || !host.takesVersion) && end !== url.host,
      `whether ${end}, where the address leads to, is a part of the site: what it shows can change without ${host.owner}`,
    ],
    [
      downloads > 0 && !result.opensAgain,
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
