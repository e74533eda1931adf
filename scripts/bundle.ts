import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Bundles a file of `lib/` as `dist/NAME.js`, with its licenses: `bundle.ts FILE NAME`. */
const [entry = '', name = ''] = process.argv.slice(2);
const ncc = createRequire(import.meta.url).resolve('@vercel/ncc/dist/ncc/cli.js');
const folder = `lib/bundles/${name}`;
const options = ['--minify', '-o', folder, '--license', 'licenses.txt'];
execFileSync(process.execPath, [ncc, 'build', `lib/${entry}`, ...options], { stdio: 'inherit' });
cpSync(`${folder}/index.js`, `dist/${name}.js`);
cpSync(`${folder}/licenses.txt`, `dist/${name}-licenses.txt`);
