import type { Ports, Progress } from '../../ports.ts';
import { BIN_ANSWER } from '../../protocol/limits.ts';

/** Shows that the host is still storing the file, once all of it was sent: that may take minutes. */
export function createAnswerWait({ clock, logger }: Pick<Ports, 'clock' | 'logger'>) {
  let hasEnded = false;
  let shown: Progress | undefined;
  const wait = (): void => {
    clock.timeout(BIN_ANSWER.interval).addEventListener('abort', showNext, { once: true });
  };
  const showNext = (): void => {
    if (hasEnded) return;
    shown ??= logger.progress(
      'waited for the bin host to store the file',
      BIN_ANSWER.longest,
      'milliseconds',
    );
    shown.advance(BIN_ANSWER.interval);
    wait();
  };
  return {
    /** The progress of the upload, after which the wait begins. */
    after: (upload: Progress): Progress => ({
      advance: (amount) => upload.advance(amount),
      end: () => {
        upload.end();
        wait();
      },
    }),
    end: (): void => {
      hasEnded = true;
      shown?.end();
    },
  };
}
