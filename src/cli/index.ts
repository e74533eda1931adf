#!/usr/bin/env node
const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  console.error(`screen-delivery needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}`);
  process.exit(2);
}

// Loaded only here: an older Node can't even read the rest. Eager: it stays in the one bundled file.
const { main } = await import(/* webpackMode: "eager" */ './main.ts');

// Idle connections are not waited for.
process.exit(await main(process.argv.slice(2), process.env));
