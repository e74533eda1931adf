import type { FileChange } from '../../src/github/api/git-data.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { fileWith } from '../delivery/builders.ts';

/** A file that is to be added. */
export const changeWith = (more: Partial<FileChange> = {}): FileChange => ({
  path: 'a/b.html',
  message: 'ADD b.html: a page',
  replaces: null,
  file: fileWith(),
  ...more,
});

/** Files to be added under these names, each with bytes of its own. */
export const additions = (files: Readonly<Record<string, LocalFile>>): FileChange[] =>
  Object.entries(files).map(([path, file]) => changeWith({ path, message: `ADD ${path}: a page`, file }));
