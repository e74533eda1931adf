import { readdirSync, readlinkSync } from 'node:fs';

/** The files below a folder that this process has open, removed ones too; none where the system does not list them. */
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
