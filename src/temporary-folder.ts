import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { DeliveryError } from './errors.ts';
import { TOOL } from './protocol/words.ts';

/**
 * Makes a new folder that only this user may read.
 *
 * @param parent where; it must exist
 * @throws {DeliveryError} `BAD_INPUT` where that is not possible, such as on a full disk.
 */
export async function createTemporaryFolder(parent: string, purpose = ''): Promise<string> {
  try {
    return await mkdtemp(join(parent, `${TOOL.name}-${purpose}`));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    throw new DeliveryError('BAD_INPUT', `no temporary folder can be made in ${parent}${code}`, {
      hint: 'make room there, or set the environment variable `RUNNER_TEMP` (outside of a runner `TMPDIR`) to a folder that can be written to',
      leftBehind: [],
      cause,
    });
  }
}
