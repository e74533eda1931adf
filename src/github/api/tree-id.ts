import { createHash } from 'node:crypto';

/** Git's id of a tree without entries. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A file in a tree of git: its path, and git's id of its bytes. */
export interface TreeFile {
  readonly path: string;
  readonly sha: string;
}

/**
 * Git's id of the tree that has exactly these files, all of them regular.
 *
 * @see https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
 */
export function hashTree(files: readonly TreeFile[]): string {
  const entries = Map.groupBy(files, ({ path }) => path.slice(0, path.indexOf('/') + 1) || path);
  const lines = [...entries]
    .map(([name, members]) => {
      const childFiles = members.map(({ path, sha }) => ({ path: path.slice(name.length), sha }));
      const sha = name.endsWith('/') ? hashTree(childFiles) : (members[0]?.sha ?? '');
      return { name: Buffer.from(name).toString('latin1'), sha };
    })
    // Git sorts names by their bytes, that of a folder as if it ended in a slash; one byte a character is as short.
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, sha }) => {
      const mode = name.endsWith('/') ? '40000' : '100644';
      return `${mode} ${name.replace(/\/$/, '')}\0${Buffer.from(sha, 'hex').toString('latin1')}`;
    });
  const content = Buffer.from(lines.join(''), 'latin1');
  return createHash('sha1').update(`tree ${content.length}\0`).update(content).digest('hex');
}
