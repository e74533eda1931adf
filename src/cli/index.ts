#!/usr/bin/env node
/** Major and minor version. */
const MIN_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  const reason = `screen-delivery needs Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}`;
  const hint = 'install a newer Node; in a clone of the repository, run: npx --no node dist/cli.js';
  const answer = { result: 'not-ready', url: '', reason, hint, code: 'BAD_USAGE', reports: [] };
  // Nothing else may be loaded: an older Node can't parse it.
  if (process.argv.includes('--json')) console.log(JSON.stringify(answer, null, 2));
  else console.error(`${reason}; ${hint}`);
  process.exit(2);
}

// Imported only here, because an older Node can't parse the rest. Eager, so that it stays in the same bundle.
const { main } = await import(/* webpackMode: "eager" */ './main.ts');

// Exit explicitly: open connections that are idle would keep the process running.
process.exit(await main(process.argv.slice(2), process.env));
