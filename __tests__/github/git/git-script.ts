import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/files.ts';

/** Writes an executable `git` that runs these shell commands. @returns a PATH on which it comes first */
export async function writeGitScript(commands: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${commands}\n`);
  await chmod(join(folder, 'git'), 0o755);
  return `${folder}:${process.env.PATH}`;
}
