import { readFileSync } from 'node:fs';

/** The files of a folder by their path. */
export type FolderFiles = Readonly<Record<string, string | Buffer>>;

/** Real output of a generator, without what its first page does not need; what is not text is in base64. */
export function readOutput(name: string): FolderFiles {
  const stored = readJson(`outputs/${name}.json`) as Record<string, string | { readonly base64: string }>;
  return mapValues(stored, (file) => (typeof file === 'string' ? file : Buffer.from(file.base64, 'base64')));
}

/**
 * Names and addresses of real output whose scripts are too large to be kept: a browser shows nothing of it.
 *
 * @see ../rules/site/generator-output.test.ts
 */
export const readExtract = (name: string): Readonly<Record<string, string>> =>
  readJson(`../rules/site/outputs/${name}.json`) as Record<string, string>;

/** Puts the files into a folder. */
export const inFolder = <T>(folder: string, files: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [`${folder}/${path}`, file]));

const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

const mapValues = <T, R>(values: Record<string, T>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
