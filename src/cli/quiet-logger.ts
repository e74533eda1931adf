import type { Logger } from '../ports.ts';

/** A log of warnings alone; what is found to be secret is still hidden everywhere. */
export const quietLogger = (logger: Logger): Logger => ({
  info: () => undefined,
  warning: (line) => logger.warning(line),
  debug: () => undefined,
  startSection: () => undefined,
  endSection: () => undefined,
  mask: (secret) => logger.mask(secret),
  progress: () => ({ advance: () => undefined, end: () => undefined }),
});

/** The same, but for the progress of what takes long. */
export const progressLogger = (logger: Logger): Logger => ({
  ...quietLogger(logger),
  progress: (title, total, unit) => logger.progress(title, total, unit),
});
