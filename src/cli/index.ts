#!/usr/bin/env node
const MIN_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  const reason = `screen-delivery needs Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}`;
  const hint =
    'install a newer Node; or, in the folder of a clone of the repository, run npx --no node dist/cli.js with absolute paths';
  const answer = { result: 'not-ready', url: '', reason, hint, code: 'BAD_USAGE', reports: [] };
  // Nothing else may be loaded: an older Node can't parse it.
  if (process.argv.includes('--json')) console.log(JSON.stringify(answer, null, 2));
  else console.error(`${reason}; ${hint}`);
  process.exitCode = 2;
} else {
  // Imported only here, because an older Node can't parse the rest. Eager, so that it stays in the same bundle.
  const { main } = await import(/* webpackMode: "eager" */ './main.ts');

  /** Whether a result could not be written, as to a full disk; one that nobody reads to its end is no failure. */
  let isResultLost = false;
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    isResultLost ||= code !== 'EPIPE';
  });
  // A log that can't be written any more is no reason to end a delivery.
  process.stderr.on('error', () => undefined);

  const exitCode = await main(process.argv.slice(2), process.env);
  // Streams tell of their errors a moment later.
  await new Promise(setImmediate);
  // The only exit, once all is written: open connections that are idle would keep the process running.
  process.exit(isResultLost && exitCode === 0 ? 1 : exitCode);
}
