import { isLeftOutByJekyll, mayBeRendered } from '../jekyll.ts';

/** A file of a folder, as far as Jekyll's rules need it. */
export interface JekyllFile {
  /** The path in the folder. */
  readonly path: string;
  /** The first bytes of the file as text; three are enough. */
  readonly head: string;
}

/** What Jekyll does to the files of a folder; the paths are relative to the folder. */
export interface JekyllNames {
  /** Left out of the site. */
  readonly leftOut: readonly string[];
  /** Served changed, or under another name. */
  readonly rendered: readonly string[];
}

/**
 * Finds the files that Jekyll leaves out or changes where it builds the site.
 *
 * @param folder the path of the folder below the root of the Pages site, without slashes at its ends; empty for the
 *   root itself, where more names are left out
 */
export function findJekyllNames(files: Iterable<JekyllFile>, folder: string): JekyllNames {
  const leftOut: string[] = [];
  const rendered: string[] = [];
  for (const { path, head } of files) {
    if (isLeftOutByJekyll(folder === '' ? path : `${folder}/${path}`)) leftOut.push(path);
    else if (mayBeRendered(path, head)) rendered.push(path);
  }
  return { leftOut, rendered };
}
