#!/usr/bin/env node
const MIN_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  const reason = `screen-delivery needs Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}`;
  const hint =
    'install a newer Node, or run `npx --no node dist/cli.js` in a clone of the repository, with absolute paths';
  const answer = { result: 'not-ready', url: '', reason, hint, code: 'BAD_USAGE', reports: [] };
  // Nothing else may be loaded: an older Node can't parse it.
  if (process.argv.includes('--json')) console.log(JSON.stringify(answer, null, 2));
  else console.error(`Error: ${reason}\nTo fix: ${hint}`);
  process.exitCode = 2;
} else {
  // An older Node can't parse the rest. `eager` keeps the bundle one file.
  const { main } = await import(/* webpackMode: "eager" */ './main.ts');

  /** Such as on a full disk. A reader that closes the pipe early causes no failure. */
  let isResultLost = false;
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    isResultLost ||= code !== 'EPIPE';
  });
  // A delivery goes on if its log can't be written.
  process.stderr.on('error', () => undefined);

  const exitCode = await main(process.argv.slice(2), process.env);
  // Streams emit their errors in a later turn.
  await new Promise(setImmediate);
  // Idle connections would keep the process running.
  process.exit(isResultLost && exitCode === 0 ? 1 : exitCode);
}
