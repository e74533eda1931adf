import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A folder of this version, which all test files of a machine share. */
const FOLDER = join(tmpdir(), 'screen-delivery-chromium-147.0.0');

const UNPACK = "import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())";

/**
 * The path of the real Chromium that `npm ci` brings. The package unpacks it to the folder for temporary files, and
 * takes what is there for complete; so it gets a folder of its own, which is renamed when it is.
 */
export async function chromiumPath(): Promise<string> {
  const path = join(FOLDER, 'chromium');
  if (existsSync(path)) return path;
  const folder = await mkdtemp(`${FOLDER}-`);
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK], {
    env: { ...process.env, TMPDIR: folder, TEMP: folder, TMP: folder },
  });
  // Another test file may have been faster.
  await rename(folder, FOLDER).catch(() => rm(folder, { recursive: true, force: true }));
  return path;
}
