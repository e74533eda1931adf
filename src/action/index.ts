import { ExitCode, error } from '@actions/core';
import { run } from './run.ts';

// A log that can't be written any more is no reason to end a delivery. The process ends by itself, all of it written.
process.stdout.on('error', () => undefined);
await run(process.env, (message, title) => {
  process.exitCode = ExitCode.Failure;
  error(message, title === undefined ? {} : { title });
});
