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
 * Fetches every URL until it has enough consecutive right answers. Accepts a cache's previous copy after a few rounds,
 * because a cache may be late.
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline with what is wrong; `NOT_EXTERNAL` for a login page.
 */
export async function prove(proofs: readonly AddressProof[]): Promise<void> {
  const run = proofs[0]?.run;
  if (run === undefined) return;
  const { limits, deadline, ports } = run;
  const { clock, signal } = ports;
  const total = proofs.filter(({ check }) => check.isOptional === undefined).length;
  const log = createWaitLog('waited for the URL', total, run);
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

/** Fetches all; or, because a site is late as a whole, first one URL several times and then twice as many. */
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
  const { shown = 0, removed = 0 } = wrong[0]?.run.totals ?? {};
  const which = wrong[0]?.check.series.acceptsOld ? WITHOUT_VERSION : '';
  const kinds = [false, true].map((isRemoved) => {
    const found = wrong.filter(({ check }) => isRemovedCheck(check) === isRemoved);
    if (found.length === 0) return '';
    const problem = isRemoved ? 'are still served' : `do not show the delivered bytes${which}`;
    const named = found.map((proof) => `${proof.check.label} (${describeShortly(proof)})`);
    return `${found.length} of ${isRemoved ? `${removed} removed files` : `${shown} files of the site`} ${problem}: ${nameFew(named)}`;
  });
  return kinds.filter(Boolean).join('; ');
}

function describeShortly({ check, lastWrong: result }: AddressProof): string {
  if (result === null) return 'not fetched before the deadline';
  if (result.failure !== undefined) return result.failure.message;
  const end = result.hosts.at(-1);
  if (provesAlone(result) && end !== check.endsOn) return `redirects to ${end} instead of ${check.endsOn}`;
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

const WITHOUT_VERSION = ' without ?v=';

function notProvenError(proof: AddressProof): DeliveryError {
  const { check, lastWrong: last, lastRight, meaning } = proof;
  const httpCode = last?.httpCode ?? undefined;
  const { endsOn, host } = check;
  const end = last?.hosts.at(-1);
  // Never hand over a URL that redirects to a host that was not verified.
  const isAway = endsOn !== undefined && end !== undefined && end !== endsOn;
  const inTime = meaning?.isFinal ? '' : ' in time';
  const differed =
    lastRight === undefined ? '' : `, and at other times ${describeMatch(lastRight.match).text}`;
  const problem = isAway
    ? `redirects to ${end}, but was verified at ${endsOn}`
    : `was not verified${inTime}: ${describeProbe(last)}${differed}`;
  const hints = [
    isAway && host.hints.moved,
    findHint(proof),
    last?.failure?.advice,
    isRemovedCheck(check) && GONE_HINT,
    lastRight && ((w: Words) => `${DIFFERS}${orRename(host, w) || OPENS_ONCE}`),
    last?.match === 'different' && host.hints.other,
  ];
  return new DeliveryError(
    'NOT_PROVEN',
    `the URL${check.series.acceptsOld ? WITHOUT_VERSION : ''} ${problem}`,
    {
      httpCode,
      hint: hints.find((hint) => hint !== undefined && hint !== false) ?? hintFor(last, host),
      cause: last?.failure,
      retryable: meaning?.isFinal !== true,
    },
  );
}

export const AGAIN_HINT = 'run it again: files that are already correct are only verified';

/** Another name wouldn't help a removal. */
const GONE_HINT =
  'run it again in ten minutes, because a cache may be late; if another file is shown there, such as Markdown, withdraw it by its path';

const DIFFERS = "the host's cache nodes answer differently: try again in a few minutes";

/** Only the host of a link, which gives no new URLs, may do so. */
const OPENS_ONCE = ', or use a link that opens more than once';

const orRename = ({ hints: { rename } }: HostRules, { say }: Words): string =>
  rename === undefined ? '' : `, or ${say(rename)}`;

const hintFor = (result: ProbeResult | null, host: HostRules): Text | undefined =>
  result !== null && describeAge(result) !== ''
    ? (w) =>
        `a cache may keep that answer ${describeCacheTime(result.freshFor)}: try again after that${orRename(host, w)}`
    : describeMatch(result?.match ?? 'absent').hint;

/** Logs changes and progress: elapsed time if there is one check, otherwise the number of files. */
export function createWaitLog(title: string, total: number, { startedAt, limits, ports }: ProofRun) {
  const { clock, logger } = ports;
  const progress =
    total === 1
      ? logger.progress(title, limits.timeout, 'milliseconds')
      : logger.progress('files fetched back', total, 'files');
  let [lastLine, shown] = ['', 0];
  return {
    write(line: string): void {
      const elapsed = clock.now() - startedAt;
      if (line !== lastLine) logger.info(`after ${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      lastLine = line;
      if (total === 1) progress.advance(elapsed - shown);
      shown = elapsed;
    },
    advance(): void {
      if (total > 1) progress.advance(1);
    },
    end: () => progress.end(),
  };
}
