import { mapConcurrently } from '../async.ts';
import { countFiles } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { SITE } from '../protocol/limits.ts';
import { type Address, AddressProof, type ProvenAddress } from './address-proof.ts';
import { type ProofWords, wrongAnswersError } from './describe-probe.ts';
import { createProofLog, type ProofLog, type WaitLimits } from './wait-log.ts';

/**
 * Asks every address until it has answered right as often in a row as it must; after a wrong answer that follows a
 * right one, twice as often. The copy from before gets a few looks, since a cache may be late, and is accepted then.
 *
 * @returns each address with its answer, in the order of the addresses
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline with what is wrong; `NOT_EXTERNAL` for a login page.
 * @see design 5
 */
export async function prove(
  addresses: readonly Address[],
  words: ProofWords,
  limits: WaitLimits,
  ports: Ports,
): Promise<readonly ProvenAddress[]> {
  const { clock, signal } = ports;
  const begun = clock.now();
  const log = createProofLog(addresses.length, words, limits, ports);
  const proofs = addresses.map((address) => new AddressProof(address, limits, ports));
  let open = proofs;
  let isAgain = false;
  try {
    for (let round = 0; open.length > 0; round += 1) {
      signal.throwIfAborted();
      const isUnreached = open.every((one) => one.isUnreached);
      const time = isUnreached ? limits.timeout * UNREACHED_SHARE : Number.POSITIVE_INFINITY;
      const isLast = clock.now() >= Math.min(limits.deadline, begun + time);
      const looked = open;
      open = await lookAtAll(looked, { asksAll: round === 0 || isLast, isLast }, log);
      if (open.length > 0) {
        const wrong = open.map((one) => one.describe());
        if (isLast || wrong.some(({ meaning }) => meaning?.isFinal)) {
          const unreachedFor = isUnreached && isLast ? clock.now() - begun : undefined;
          throw wrongAnswersError(wrong, addresses.length, { ...words, unreachedFor });
        }
        log.write(wrong);
        await clock.sleep(Math.max(Math.min(limits.interval, limits.deadline - clock.now()), 0), signal);
      } else if (!isAgain) {
        const late = new Set(looked);
        open = proofs.filter((one) => one.address.isAskedAgain && !late.has(one));
        isAgain = true;
        if (open.length > 0) ports.logger.info(`once more: ${countFiles(open.length)}`);
      }
    }
  } finally {
    log.end();
  }
  return proofs.flatMap(({ proven }) => proven ?? []);
}

/**
 * Looks at all addresses; or, where they were all asked before, first at one, and at more of the others the more are
 * right: what is late is late as a whole, and is not asked for each of its files.
 *
 * @returns those that are not proven now
 */
async function lookAtAll(
  open: readonly AddressProof[],
  { asksAll, isLast }: { readonly asksAll: boolean; readonly isLast: boolean },
  log: Pick<ProofLog, 'advance'>,
): Promise<AddressProof[]> {
  const left: AddressProof[] = [];
  for (let at = 0, count = asksAll ? open.length : 1; at < open.length; at += count, count *= 2) {
    const asked = open.slice(at, at + count);
    const looks = await mapConcurrently(asked, SITE.probes, async (one) => {
      const isNew = one.proven === undefined;
      const isProven = await one.look(isLast);
      if (isProven && isNew) log.advance();
      return isProven;
    });
    left.push(...asked.filter((_, index) => !looks[index]));
    if (!asksAll && left.some(({ isOld }) => !isOld)) return [...left, ...open.slice(at + count)];
  }
  return left;
}

/**
 * A link on a host that nothing reaches is given up after this share of the time, in which a name that is new may come
 * to resolve. What a channel placed is waited for: its host has answered before.
 */
const UNREACHED_SHARE = 1 / 4;
