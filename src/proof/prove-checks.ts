import { DeliveryError } from '../errors.ts';
import { countFiles } from '../plain-text.ts';
import { AGREEING_ANSWERS } from '../protocol/limits.ts';
import { withVersion } from '../rules/naming.ts';
import { AddressProof } from './address-proof.ts';
import { type Check, isRemovedCheck } from './check.ts';
import { describeCacheEnd, describeProbe, noteEarlier } from './probe-result.ts';
import { prove } from './prove.ts';

/**
 * Verifies all checks of a placement: the page, then the other files, then both without `?v=`, as people open them.
 * That comes last, because a cache would keep a wrong answer without `?v=`.
 * @param version the value of `?v=` in a URL that is handed over
 * @returns the page's answer; the other files; the URLs without `?v=` and the optional ones; and the URL to hand over
 * instead if a cache still shows the previous page
 * @throws {DeliveryError} `NOT_PROVEN` with the last answer; `NOT_EXTERNAL`.
 * @see protocol 4.2, 4.5
 */
export async function proveChecks(first: AddressProof, others: readonly Check[], version: string) {
  const { check, run } = first;
  const { logger } = run.ports;
  // A page that the host built must be the same with and without `?v=`.
  const toPlainProofs = (checks: readonly Check[]) =>
    checks.map(
      (check) => new AddressProof(check, run, undefined, check.expect.is === 'built' ? first : undefined),
    );
  await prove([first]);
  const page = first.proven;
  if (page === undefined) throw new DeliveryError('INTERNAL', 'a URL was never verified');
  logger.info(describeProbe(page));
  const endsOn = page.hosts.at(-1);
  const required = others.filter(({ isOptional }) => !isOptional);
  const files = required.map((other) => new AddressProof({ ...other, endsOn }, run));
  const removed = required.filter(isRemovedCheck).length;
  if (files.length > 0) {
    logger.info(
      `other files to check: ${files.length - removed}${removed === 0 ? '' : `; removed files to check: ${removed}`}`,
    );
  }
  await prove(files);
  if (check.host.asksPageAgain && files.length > 0) await proveTogether(first, files);
  const verified = [{ ...check, endsOn }, ...files.map((proof) => proof.check)];
  const asOpened = verified.flatMap(toPlainChecks);
  const plain = toPlainProofs([...asOpened, ...others.filter(({ isOptional }) => isOptional)]);
  if (plain.length > 0) logger.info('checking without ?v=, as a person opens it');
  await prove(plain);
  // An old copy from a cache doesn't prove that the host still serves the new file.
  const stale = plain.filter(({ isOld }) => isOld);
  await prove(toPlainProofs(stale.map((proof) => ({ ...withoutOld(proof.check), addsVersion: true }))));
  const stalePage = stale.find((proof) => proof.check.isPage);
  if (stalePage === undefined) return { page: first.proven ?? page, files, plain };
  const url = withVersion(check.url, version);
  await prove(toPlainProofs([{ ...withoutOld(stalePage.check), url }]));
  const until = describeCacheEnd(stalePage.freshFor, run.ports.clock.date());
  return { page: first.proven ?? page, files, plain, versioned: { url, note: noteEarlier(until) } };
}

const toPlainChecks = ({ plainSeries, ...check }: Check): readonly Check[] =>
  plainSeries === undefined
    ? []
    : [{ ...check, series: { ...plainSeries, acceptsOld: true }, addsVersion: false }];

const withoutOld = (check: Check): Check => ({ ...check, series: { ...check.series, acceptsOld: false } });

/** All must be right at the same time: fetches the page again, and the files too if any was late. */
async function proveTogether(page: AddressProof, files: readonly AddressProof[]): Promise<void> {
  const { check, proven, run } = page;
  const series = { ...check.series, answers: AGREEING_ANSWERS.usual };
  const again = new AddressProof({ ...check, endsOn: proven?.hosts.at(-1), series }, run, page);
  await prove([again]).finally(() => {
    page.last = again.last;
  });
  const wasLate = again.rounds > 1;
  const older = files.filter((proof) => wasLate || proof.rounds === 1);
  if (!wasLate && older.length === files.length) return;
  if (older.length > 0) run.ports.logger.info(`checking ${countFiles(older.length)} again`);
  await prove(older.map((proof) => new AddressProof(proof.check, run)));
}
