import { mapConcurrently } from '../async.ts';
import { SECOND, SITE } from '../protocol/limits.ts';
import type { AddressProof } from './address-proof.ts';
import type { PlacementCheck } from './ask-address.ts';
import { describeWrong, wrongAnswersError } from './describe-probe.ts';

/**
 * Asks every address until it has answered right as often in a row as it must; after a wrong answer that follows a
 * right one, twice as often. The copy from before gets a few looks, since a cache may be late, and is accepted then.
 *
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline with what is wrong; `NOT_EXTERNAL` for a login page.
 */
export async function prove(proofs: readonly AddressProof[]): Promise<void> {
  const check = proofs[0]?.check;
  if (check === undefined) return;
  const { interval, deadline, ports } = check;
  const { clock, signal } = ports;
  const total = proofs.filter(({ address }) => !address.isOptional).length;
  const log = createWaitLog('waited for the address', total, check);
  let open = proofs;
  try {
    for (let asksAll = true; ; asksAll = false) {
      signal.throwIfAborted();
      const isLast = check.isLate || clock.now() >= deadline;
      open = await lookAtAll(open, { asksAll: asksAll || isLast, isLast }, log.advance);
      if (open.length === 0) return;
      if (isLast || open.some(({ meaning }) => meaning?.isFinal)) throw wrongAnswersError(open, total);
      const count = total === 1 ? '' : `${open.length} of ${total} files are not there yet: `;
      log.write(count + describeWrong(open));
      await clock.sleep(Math.max(Math.min(interval, deadline - clock.now()), 0), signal);
    }
  } finally {
    log.end();
  }
}

/**
 * Looks at all addresses; or, where they were all asked before, first at one, and at more of the others the more are
 * right: what is late is late as a whole, and is not asked for each of its files.
 *
 * @returns those that are not proven now, but for optional ones that were asked often enough
 */
async function lookAtAll(
  open: readonly AddressProof[],
  { asksAll, isLast }: { readonly asksAll: boolean; readonly isLast: boolean },
  advance: () => void,
): Promise<AddressProof[]> {
  const left: AddressProof[] = [];
  for (let at = 0, count = asksAll ? open.length : 1; at < open.length; at += count, count *= 2) {
    const asked = open.slice(at, at + count);
    const looks = await mapConcurrently(asked, SITE.probes, async (one) => {
      const isNew = one.proven === undefined;
      const isDone = await one.look(isLast);
      if (isDone && isNew && !one.address.isOptional) advance();
      return isDone;
    });
    left.push(...asked.filter((_, index) => !looks[index]));
    if (!asksAll && left.some(({ oldLooks }) => oldLooks === 0)) return [...left, ...open.slice(at + count)];
  }
  return left;
}

/**
 * Logs a wait: a line when something changed, and how much is done: of one address, how much of the time is over.
 *
 * @param total how many addresses are waited for
 */
export function createWaitLog(
  title: string,
  total: number,
  { begun, timeout, ports: { clock, logger } }: PlacementCheck,
): { write(line: string): void; advance(): void; end(): void } {
  const progress =
    total === 1
      ? logger.progress(title, timeout, 'milliseconds')
      : logger.progress('files fetched back', total, 'files');
  let lastLine = '';
  let shown = 0;
  return {
    write(line) {
      const elapsed = clock.now() - begun;
      if (line !== lastLine) logger.info(`${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      lastLine = line;
      if (total === 1) progress.advance(elapsed - shown);
      shown = elapsed;
    },
    advance: () => {
      if (total > 1) progress.advance(1);
    },
    end: () => progress.end(),
  };
}
