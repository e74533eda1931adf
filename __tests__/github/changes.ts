import type { Change } from '../../src/github/change.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { fileWith } from '../delivery/builders.ts';

interface PathChange {
  readonly path: string;
  readonly message: string;
  /** The blob that was found at the path, or `null`. */
  readonly replaces: string | null;
  /** `null` removes the file. */
  readonly file: LocalFile | null;
}

/** A change of one path, which adds a file. */
export const changeWith = ({
  path = 'a/b.html',
  message = 'ADD b.html: a page',
  replaces = null,
  file = fileWith(),
}: Partial<PathChange> = {}): Change => ({
  message,
  writes: file === null ? [] : [{ path, file }],
  removals: file === null ? [path] : [],
  replaces,
});
