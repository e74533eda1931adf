import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type InspectOptions, inspectFile, type LocalFile } from '../../src/rules/inspect.ts';
import { temporaryFolder } from '../support/files.ts';

let root: string;
let outside: string;

beforeEach(async () => {
  root = await temporaryFolder();
  outside = await temporaryFolder();
  for (const folder of [root, outside]) {
    await mkdir(join(folder, 'dist', 'css'), { recursive: true });
    await writeFile(join(folder, 'dist', 'css', 'a.css'), folder === root ? 'ours' : 'them');
    await writeFile(join(folder, 'dist', 'css', 'b.css'), 'more');
  }
});

/** A file of a folder. */
async function inspect(path = 'dist/css/a.css', more: Partial<InspectOptions> = {}): Promise<LocalFile> {
  const options = { path: join(root, path), given: path, marker: undefined, secrets: [] };
  return inspectFile({ ...options, allowedRoots: [root], ...more });
}

const text = async (file: LocalFile): Promise<string> =>
  Buffer.concat(await file.read().toArray()).toString();

/** Puts a link to a folder or file elsewhere in the place of one of ours. */
async function swap(path: string, target = join(outside, path)): Promise<void> {
  await rename(join(root, path), `${join(root, path)}.before`);
  await symlink(target, join(root, path));
}

const IS_LINK = {
  code: 'BAD_FILE',
  message: expect.stringMatching(/symbolic link or is in a linked folder/),
};

describe('files of a folder', () => {
  test('are read again and again', async () => {
    const [one, other] = [await inspect(), await inspect('dist/css/b.css')];
    expect([await text(one), await text(one), await text(other)]).toEqual(['ours', 'ours', 'more']);
  });

  test.each(['dist', 'dist/css', 'dist/css/a.css'])(
    'are refused where %s is a link from the start',
    async (path) => {
      await swap(path);
      await expect(inspect()).rejects.toMatchObject(IS_LINK);
    },
  );

  test.each(['dist', 'dist/css', 'dist/css/a.css'])(
    'are refused where %s became a link after it was checked',
    async (path) => {
      const before = await inspect();
      await inspect('dist/css/b.css');
      await swap(path);
      await expect(inspect()).rejects.toMatchObject(IS_LINK);
      await expect(text(before)).rejects.toMatchObject(IS_LINK);
    },
  );

  test('are refused where the folder is another one by now, even without a link', async () => {
    const before = await inspect();
    await rename(join(root, 'dist/css'), join(root, 'dist/old'));
    await rename(join(outside, 'dist/css'), join(root, 'dist/css'));
    await expect(text(before)).rejects.toMatchObject({ code: 'BAD_FILE' });
    await rm(join(root, 'dist/css'), { recursive: true });
    await expect(text(before)).rejects.toMatchObject({ code: 'BAD_FILE' });
  });

  test('are refused outside the allowed roots', async () => {
    const path = join(outside, 'dist/css/a.css');
    await expect(inspect(path, { path })).rejects.toMatchObject({
      message: expect.stringContaining('is outside the workspace'),
    });
  });

  test('may be anywhere, also behind a link, where no root is set', async () => {
    await swap('dist/css');
    expect(await text(await inspect(undefined, { allowedRoots: [] }))).toBe('them');
  });
});
