import { cpSync } from 'node:fs';

/** Copies a file: `copy.ts FROM TO`. */
const [from = '', to = ''] = process.argv.slice(2);
cpSync(from, to);
