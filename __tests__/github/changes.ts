import type { FileChange } from '../../src/github/api/git-data.ts';
import { fileWith } from '../delivery/builders.ts';

/** A change that adds a file. */
export const changeWith = (overrides: Partial<FileChange> = {}): FileChange => ({
  path: 'a/b.html',
  message: 'ADD b.html: a page',
  replaces: null,
  file: fileWith(),
  ...overrides,
});
