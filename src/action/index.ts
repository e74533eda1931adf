import { ExitCode, error } from '@actions/core';
import { run } from './run.ts';

// A delivery goes on if its log can't be written.
process.stdout.on('error', () => undefined);
await run(process.env, (message, title) => {
  process.exitCode = ExitCode.Failure;
  error(message, title === undefined ? {} : { title });
});
// Open connections would keep the process running.
process.stdout.write('', () => process.exit());
