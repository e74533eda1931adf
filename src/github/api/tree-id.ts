import { createHash } from 'node:crypto';

export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export interface TreeFile {
  readonly path: string;
  readonly sha: string;
}

/** Git's id of the tree with exactly these regular files. @param note gets each folder in it, and that folder's id */
export function hashTree(
  files: readonly TreeFile[],
  note?: (folder: string, sha: string) => void,
  above = '',
): string {
  const entries = Map.groupBy(files, ({ path }) => path.slice(0, path.indexOf('/') + 1) || path);
  const lines = [...entries]
    .map(([name, members]) => {
      const childFiles = members.map(({ path, sha }) => ({ path: path.slice(name.length), sha }));
      const isFolder = name.endsWith('/');
      const sha = isFolder ? hashTree(childFiles, note, above + name) : (members[0]?.sha ?? '');
      if (isFolder) note?.(above + name.slice(0, -1), sha);
      return { name: Buffer.from(name).toString('latin1'), sha };
    })
    // Git sorts names by bytes, and folders as if their names ended in a slash. Latin-1 keeps one byte per character.
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, sha }) => {
      const mode = name.endsWith('/') ? '40000' : '100644';
      return `${mode} ${name.replace(/\/$/, '')}\0${Buffer.from(sha, 'hex').toString('latin1')}`;
    });
  const content = Buffer.from(lines.join(''), 'latin1');
  return createHash('sha1').update(`tree ${content.length}\0`).update(content).digest('hex');
}
