#!/usr/bin/env node
import { main } from './main.ts';

// Idle connections are not waited for.
process.exit(await main(process.argv.slice(2), process.env));
