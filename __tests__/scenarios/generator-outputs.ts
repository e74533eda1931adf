import { readFileSync } from 'node:fs';

/** The files of a folder by their path. */
export type FolderFiles = Readonly<Record<string, string | Buffer>>;

/** Real output of a generator, without what its first page does not need; what is not text is in base64. */
export function readOutput(name: string): FolderFiles {
  const text = readFileSync(new URL(`outputs/${name}.json`, import.meta.url), 'utf8');
  const stored = JSON.parse(text) as Record<string, string | { readonly base64: string }>;
  return mapValues(stored, (file) => (typeof file === 'string' ? file : Buffer.from(file.base64, 'base64')));
}

/** Puts the files into a folder. */
export const inFolder = <T>(folder: string, files: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [`${folder}/${path}`, file]));

const mapValues = <T, R>(values: Record<string, T>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
