import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import { describeWrong, type ProofWords, type WrongAnswer } from './describe-probe.ts';

/** How long, and how often, addresses are asked. */
export interface WaitLimits {
  /** Milliseconds between two requests. */
  readonly interval: number;
  /** Milliseconds that build and verification may take together. */
  readonly timeout: number;
  /** When they began, and when they must end: milliseconds since the epoch. */
  readonly begun: number;
  readonly deadline: number;
}

/** Logs a wait: a line when something changed, and how much of the time is over. */
export function createWaitLog(
  title: string,
  { begun, timeout }: WaitLimits,
  { clock, logger }: Ports,
): { write(line: string): void; end(): void } {
  const progress = logger.progress(title, timeout, 'milliseconds');
  let lastLine = '';
  let shown = 0;
  return {
    write(line) {
      const elapsed = clock.now() - begun;
      if (line !== lastLine) logger.info(`${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      lastLine = line;
      progress.advance(elapsed - shown);
      shown = elapsed;
    },
    end: () => progress.end(),
  };
}

/** The log of a proof. */
export interface ProofLog {
  /** One more address is proven. */
  advance(): void;
  write(wrong: readonly WrongAnswer[]): void;
  end(): void;
}

/** Logs a proof: a line when something changed, and how much is done; of one address, how much of the time is over. */
export function createProofLog(total: number, words: ProofWords, limits: WaitLimits, ports: Ports): ProofLog {
  if (total === 1) {
    const log = createWaitLog('waited for the address', limits, ports);
    return {
      advance: () => undefined,
      write: (wrong) => log.write(describeWrong(wrong, words)),
      end: log.end,
    };
  }
  const progress = ports.logger.progress('files fetched back', total, 'files');
  return {
    advance: () => progress.advance(1),
    write: (wrong) =>
      ports.logger.info(
        `${wrong.length} of ${total} files are not there yet: ${describeWrong(wrong, words)}`,
      ),
    end: () => progress.end(),
  };
}
