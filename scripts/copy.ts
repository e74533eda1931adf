import { cpSync } from 'node:fs';

/** Copies one file to another place. */
const [from = '', to = ''] = process.argv.slice(2);
cpSync(from, to);
