#!/usr/bin/env node
const MIN_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < MIN_NODE) {
  console.error(`screen-delivery needs Node ${MIN_NODE} or newer; this is ${process.versions.node}`);
  process.exit(2);
}

// Imported only here, because an older Node can't parse the rest. Eager, so that it stays in the same bundle.
const { main } = await import(/* webpackMode: "eager" */ './main.ts');

// Exit explicitly: open connections that are idle would keep the process running.
process.exit(await main(process.argv.slice(2), process.env));
