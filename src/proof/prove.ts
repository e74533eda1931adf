import { mapConcurrently } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import { nameFew } from '../plain-text.ts';
import { SECOND, SITE } from '../protocol/limits.ts';
import type { Text, Words } from '../words.ts';
import type { AddressProof } from './address-proof.ts';
import type { ProofRun } from './ask-address.ts';
import { type HostRules, isRemovedCheck } from './check.ts';
import {
  describeAge,
  describeAnswer,
  describeCacheTime,
  describeMatch,
  describeProbe,
  type ProbeResult,
  provesAlone,
} from './probe-result.ts';

/**
 * Asks every address until it has answered right as often in a row as it must. The copy from before gets a few looks,
 * since a cache may be late, and is accepted then.
 *
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline with what is wrong; `NOT_EXTERNAL` for a login page.
 */
export async function prove(proofs: readonly AddressProof[]): Promise<void> {
  const run = proofs[0]?.run;
  if (run === undefined) return;
  const { limits, deadline, ports } = run;
  const { clock, signal } = ports;
  const total = proofs.filter(({ check }) => check.isOptional === undefined).length;
  const log = createWaitLog('waited for the address', total, run);
  let pending = proofs;
  try {
    for (let asksAll = true; ; asksAll = false) {
      signal.throwIfAborted();
      const isLast = limits.once === true || run.waitFailure !== null || clock.now() >= deadline;
      pending = await probeAll(pending, { asksAll: asksAll || isLast, isLast }, log.advance);
      if (pending.length === 0) return;
      if (isLast || pending.some(({ meaning }) => meaning?.isFinal)) throw wrongAnswersError(pending);
      log.write(isPageAlone(pending) ? describeProbe(pending[0]?.lastWrong ?? null) : describeFiles(pending));
      await clock.sleep(Math.max(Math.min(limits.interval, deadline - clock.now()), 0), signal);
    }
  } finally {
    log.end();
  }
}

/** Looks at all; or again at one, which must agree with itself, then twice as many: a site is late as a whole. */
async function probeAll(
  open: readonly AddressProof[],
  { asksAll, isLast }: { readonly asksAll: boolean; readonly isLast: boolean },
  advance: () => void,
): Promise<AddressProof[]> {
  const unproven: AddressProof[] = [];
  for (let at = 0, count = asksAll ? open.length : 1; at < open.length; at += count, count *= 2) {
    const asked = open.slice(at, at + count);
    const results = await mapConcurrently(asked, SITE.probes, async (proof) => {
      const isNew = proof.proven === undefined;
      const isDone = await proof.runRound(isLast, !asksAll && at === 0);
      if (isDone && isNew && proof.check.isOptional === undefined) advance();
      return isDone;
    });
    unproven.push(...asked.filter((_, index) => !results[index]));
    if (!asksAll && unproven.some(({ oldRounds }) => oldRounds === 0))
      return [...unproven, ...open.slice(at + count)];
  }
  return unproven;
}

const isPageAlone = ([first, ...others]: readonly AddressProof[]): boolean =>
  first?.check.isPage === true && others.length === 0;

function describeFiles(wrong: readonly AddressProof[]): string {
  const { shown = 0, gone = 0 } = wrong[0]?.run.totals ?? {};
  const which = wrong[0]?.check.series.acceptsOld ? WITHOUT_VERSION : '';
  const kinds = [false, true].map((isRemoved) => {
    const found = wrong.filter(({ check }) => isRemovedCheck(check) === isRemoved);
    if (found.length === 0) return '';
    const problem = isRemoved ? 'are still open' : `do not show the delivered bytes${which}`;
    const named = found.map((proof) => `${proof.check.label} (${describeShortly(proof)})`);
    return `${found.length} of ${isRemoved ? `${gone} removed files` : `${shown} files of the site`} ${problem}: ${nameFew(named)}`;
  });
  return kinds.filter(Boolean).join('; ');
}

function describeShortly({ check, lastWrong: result }: AddressProof): string {
  if (result === null) return 'not asked before the deadline';
  if (result.failure !== undefined) return result.failure.message;
  const end = result.hosts.at(-1);
  if (provesAlone(result) && end !== check.endsOn) return `leads to ${end}, and not to ${check.endsOn}`;
  return describeAnswer(result);
}

/** @see protocol 7 (final URL does not answer 200 or lacks the marker) */
function wrongAnswersError(wrong: readonly AddressProof[]): DeliveryError {
  const [first] = wrong;
  if (first !== undefined && isPageAlone(wrong)) return notProvenError(first);
  const meaning = wrong.find((proof) => proof.meaning)?.meaning;
  const headers =
    wrong.find((proof) => proof.lastWrong?.match === 'not-shown') && describeMatch('not-shown').hint;
  const hints = [...wrong.map(findHint), headers];
  return new DeliveryError('NOT_PROVEN', describeFiles(wrong), {
    httpCode: wrong.find((proof) => proof.lastWrong?.httpCode != null)?.lastWrong?.httpCode ?? undefined,
    hint: hints.find((hint) => hint !== undefined) ?? first?.check.host.hints.late,
    retryable: meaning?.isFinal !== true,
  });
}

const findHint = ({ check, lastWrong, meaning }: AddressProof): Text | undefined =>
  meaning?.hint ?? (lastWrong?.httpCode === 429 ? check.host.hints.busy : undefined);

/** How an address was asked that is not asked past caches. */
const WITHOUT_VERSION = ' without ?v=';

function notProvenError(proof: AddressProof): DeliveryError {
  const { check, lastWrong: last, lastRight, meaning } = proof;
  const httpCode = last?.httpCode ?? undefined;
  const { endsOn, host } = check;
  const end = last?.hosts.at(-1);
  // An address that leads to another host than the one that was proven is not the one to hand over.
  const isAway = endsOn !== undefined && end !== undefined && end !== endsOn;
  const inTime = meaning?.isFinal ? '' : ' in time';
  const differed =
    lastRight === undefined ? '' : `, and at other times ${describeMatch(lastRight.match).text}`;
  const problem = isAway
    ? `leads to ${end}, and not to ${endsOn}, where it was proven`
    : `was not proven${inTime}: ${describeProbe(last)}${differed}`;
  const hints = [
    isAway && host.hints.moved,
    findHint(proof),
    last?.failure?.advice,
    isRemovedCheck(check) && GONE_HINT,
    lastRight && ((w: Words) => `${DIFFERS}${orRename(host, w)}`),
    last?.match === 'different' && host.hints.other,
  ];
  return new DeliveryError(
    'NOT_PROVEN',
    `the address${check.series.acceptsOld ? WITHOUT_VERSION : ''} ${problem}`,
    {
      httpCode,
      hint: hints.find((hint) => hint !== undefined && hint !== false) ?? hintFor(last, host),
      cause: last?.failure,
      retryable: meaning?.isFinal !== true,
    },
  );
}

/** A second run writes nothing that is there. */
export const AGAIN_HINT = 'try again: files that are already correct are only verified';

/** Of what is removed: no other place would help. */
const GONE_HINT =
  'look at which file of the branch is shown there, such as Markdown, and withdraw that by its path; a cache may also be late: run it again in ten minutes';

const DIFFERS = "the nodes of the host's cache do not answer alike: try again in some minutes";

const orRename = ({ hints: { rename } }: HostRules, { say }: Words): string =>
  rename === undefined ? '' : `, or ${say(rename)}`;

const hintFor = (result: ProbeResult | null, host: HostRules): Text | undefined =>
  result !== null && describeAge(result) !== ''
    ? (w) =>
        `a cache may keep that answer ${describeCacheTime(result.freshFor)}: try again after that${orRename(host, w)}`
    : describeMatch(result?.match ?? 'absent').hint;

/** Logs what changed during a wait, and how much is done: of one check, how much of the time is over. */
export function createWaitLog(
  title: string,
  total: number,
  { startedAt, limits, ports: { clock, logger } }: ProofRun,
): { write(line: string): void; advance(): void; end(): void } {
  const progress =
    total === 1
      ? logger.progress(title, limits.timeout, 'milliseconds')
      : logger.progress('files fetched back', total, 'files');
  let lastLine = '';
  let shown = 0;
  return {
    write(line) {
      const elapsed = clock.now() - startedAt;
      if (line !== lastLine) logger.info(`after ${(elapsed / SECOND).toFixed(0)} s: ${line}`);
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
