import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { listSiteFiles } from '../../src/rules/local-site.ts';
import { temporaryFolder } from '../support/files.ts';

describe('listing the files of a folder', () => {
  test('names a folder that can not be read, whatever the reason', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'a'));
    await writeFile(join(folder, 'a', 'x.txt'), 'x');
    await expect(listSiteFiles(join(folder, 'a', 'x.txt'), 'dist')).rejects.toMatchObject({
      code: 'BAD_FILE',
      message: "a folder of the site can't be read (ENOTDIR): ./",
    });
    await expect(listSiteFiles(join(folder, 'n'.repeat(300)), 'dist')).rejects.toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringContaining('ENAMETOOLONG'),
    });
  });
});
