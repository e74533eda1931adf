import { ExitCode, error } from '@actions/core';
import { run } from './run.ts';

// A log that can't be written any more is no reason to end a delivery.
process.stdout.on('error', () => undefined);
await run(process.env, (message, title) => {
  process.exitCode = ExitCode.Failure;
  error(message, title === undefined ? {} : { title });
});
// Once all is written: a connection that still waits for its host would keep the process running.
process.stdout.write('', () => process.exit());
