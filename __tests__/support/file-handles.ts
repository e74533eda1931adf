import { readdirSync, readlinkSync } from 'node:fs';

/**
 * The files below a folder that this process has open, by their paths; none where the system has no list of them. A
 * file that was removed or replaced is listed as well.
 */
export function listOpenFiles(folder: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  const paths = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The list itself was open.
      return [];
    }
  });
  return paths.filter((path) => path.startsWith(`${folder}/`));
}
