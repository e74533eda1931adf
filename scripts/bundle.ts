import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A module of a bundle, or several that were joined. */
interface BundledModule {
  readonly nameForCondition: string | null;
  readonly chunks: readonly (string | number)[];
  readonly modules?: readonly BundledModule[];
}

/** The folders of the packages that the modules belong to. */
const listPackages = (modules: readonly BundledModule[]): string[] =>
  modules.flatMap(({ nameForCondition, modules: parts = [] }) => [
    ...(/^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(nameForCondition ?? '') ?? []),
    ...listPackages(parts),
  ]);

function formatLicense(folder: string): string {
  const { name, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const texts = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: folder }).sort();
  // Git keeps text files without carriage returns.
  const read = (text: string): string => readFileSync(join(folder, text), 'utf8').replaceAll('\r\n', '\n');
  return [name, license, ...texts.map(read)].join('\n');
}

/** Bundles a file of `lib/` as `dist/NAME.js`, with its licenses: `bundle.ts FILE NAME`. */
const [entry = '', name = ''] = process.argv.slice(2);
const ncc = createRequire(import.meta.url).resolve('@vercel/ncc/dist/ncc/cli.js');
const [folder, stats] = [`lib/bundles/${name}`, `lib/bundles/${name}.json`];
const options = ['--minify', '-o', folder, '--stats-out', stats];
execFileSync(process.execPath, [ncc, 'build', `lib/${entry}`, ...options], { stdio: 'inherit' });
cpSync(`${folder}/index.js`, `dist/${name}.js`);
// ncc's own list has only the last part of a bundle. Parts that a library loads later, and never does here, stay away.
const { chunks, modules } = JSON.parse(readFileSync(stats, 'utf8')) as {
  readonly chunks: readonly { readonly id: string | number; readonly initial: boolean }[];
  readonly modules: readonly BundledModule[];
};
const first = chunks.find(({ initial }) => initial)?.id ?? '';
const packages = new Set(listPackages(modules.filter((part) => part.chunks.includes(first))));
writeFileSync(`dist/${name}-licenses.txt`, [...packages].map(formatLicense).sort().join('\n\n'));
