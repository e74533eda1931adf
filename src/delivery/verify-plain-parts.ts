import { mapConcurrently } from '../async.ts';
import type { PlacedPart } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { nameFew } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { FURTHER_PROBES, SITE, SIZE } from '../protocol/limits.ts';
import { describeCacheTime } from './further-addresses.ts';
import type { WaitLimits } from './verify.ts';
import { describeOther, fetchPart, type PartsCheck } from './verify-parts.ts';

/** A replaced file, and what its address answers without `?v=` that is not the new one. */
interface OldPart {
  readonly part: PlacedPart;
  /** What is wrong; `null` for the copy from before. */
  readonly problem: string | null;
  readonly httpCode: number | null;
  /** Milliseconds that a cache may keep the answer; `null` where the host does not say. */
  readonly keptFor: number | null;
}

/**
 * Asks the addresses of replaced files as a browser asks them, without `?v=`. Each must show the new file, or the
 * copy from before that a cache still has: that gets a few requests, since a cache may be late.
 *
 * @returns for UNKNOWN: which files a cache still has
 * @throws {DeliveryError} `NOT_PROVEN` where an address shows anything else until the deadline.
 * @see design 5 (K1)
 */
export async function verifyPlainParts(
  parts: readonly PlacedPart[],
  check: Omit<PartsCheck, 'gone'>,
  { deadline, interval }: Pick<WaitLimits, 'deadline' | 'interval'>,
  ports: Ports,
): Promise<readonly string[]> {
  const replaced = parts.filter(
    ({ previousSha256, previousBlob }) => (previousSha256 ?? previousBlob) !== undefined,
  );
  const { clock, logger, signal } = ports;
  if (replaced.length > 0) logger.info(`${replaced.length} of them were replaced: without ?v= as well`);
  let open = replaced;
  for (let round = 1; open.length > 0; round += 1) {
    const results = await mapConcurrently(open, SITE.probes, (part) =>
      probePlain(part, check, deadline, ports),
    );
    const old = results.flatMap((one) => one ?? []);
    const left = deadline - clock.now();
    const wrong = old.filter(({ problem }) => problem !== null);
    if (wrong.length === 0 && (round >= FURTHER_PROBES || left <= 0)) return describeOld(old);
    if (left <= 0) throw plainPartsError(wrong, replaced.length);
    open = old.map(({ part }) => part);
    if (open.length > 0) await clock.sleep(Math.min(interval, left), signal);
  }
  return [];
}

async function probePlain(
  part: PlacedPart,
  check: Omit<PartsCheck, 'gone'>,
  deadline: number,
  ports: Ports,
): Promise<OldPart | null> {
  const asked = { ...part, readAtMost: SIZE.repository + 1, asBrowser: true };
  const answer = await fetchPart(asked, check, deadline, ports);
  if (typeof answer === 'string') return { part, problem: answer, httpCode: null, keptFor: null };
  const { httpCode, keptFor, fingerprint, isBlob } = answer;
  const problem = describeOther(answer, part, check.host);
  if (problem === null) return null;
  const { previousSha256 = [] } = part;
  const isOld =
    fingerprint !== null &&
    (isBlob || previousSha256.includes(fingerprint.sha256)) &&
    describeOther(answer, fingerprint, check.host) === null;
  return { part, problem: isOld ? null : problem, httpCode, keptFor };
}

const namesOf = (parts: readonly OldPart[]): string => nameFew(parts.map(({ part }) => part.path));

function describeOld(old: readonly OldPart[]): readonly string[] {
  if (old.length === 0) return [];
  const times = old.map(({ keptFor }) => keptFor);
  const longest = times.includes(null) ? null : Math.max(...times.map(Number));
  const time = describeCacheTime(longest);
  return [`without ?v= a cache still answered older copies of ${namesOf(old)}; it may show them ${time}`];
}

function plainPartsError(wrong: readonly OldPart[], total: number): DeliveryError {
  const problems = nameFew(wrong.map(({ part, problem }) => `${part.path} (${problem})`));
  return new DeliveryError(
    'NOT_PROVEN',
    `${wrong.length} of ${total} replaced files do not show the delivered bytes without ?v=: ${problems}`,
    {
      httpCode: wrong.find(({ httpCode }) => httpCode !== null)?.httpCode ?? undefined,
      hint: 'run the step again: what is committed is only verified',
    },
  );
}
