/** Whether a path without a slash at the start is a file. */

/**
 * The file that GitHub Pages serves at a path: the file itself, else the same name with `.html`, else the index of
 * the folder, to which it redirects. Names are case-sensitive.
 *
 * @param path decoded, without a slash at the start
 * @returns `null` if it answers 404
 */
export function findServed(path: string, isFile: (path: string) => boolean): string | null {
  if (path === '' || path.endsWith('/')) return isFile(`${path}index.html`) ? `${path}index.html` : null;
  return [path, `${path}.html`, `${path}/index.html`].find(isFile) ?? null;
}

/** Decodes the path of a URL as a server does: an invalid escape stays, several slashes count as one. */
export function decodePath(pathname: string): string {
  const path = pathname.replace(/\/{2,}/g, '/');
  if (!path.includes('%')) return path;
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
