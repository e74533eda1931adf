import { createHash } from 'node:crypto';

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
  const entries: { readonly key: string; readonly bytes: Buffer }[] = [];
  const folders = Map.groupBy(files, ({ path }) => path.split('/', 1)[0] ?? path);
  for (const [name, inside] of folders) {
    const [only] = inside;
    const isFile = only !== undefined && only.path === name;
    const sha = isFile
      ? only.sha
      : hashTree(inside.map(({ path, sha }) => ({ path: path.slice(name.length + 1), sha })));
    const head = Buffer.from(`${isFile ? '100644' : '40000'} ${name}\0`);
    entries.push({ key: isFile ? name : `${name}/`, bytes: Buffer.concat([head, Buffer.from(sha, 'hex')]) });
  }
  entries.sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
  const body = Buffer.concat(entries.map(({ bytes }) => bytes));
  return createHash('sha1').update(`tree ${body.length}\0`).update(body).digest('hex');
}
