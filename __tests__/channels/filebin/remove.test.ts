import { expect, test } from '@jest/globals';
import { localFile } from '../../support/files.ts';
import type { Scripted } from '../../support/ports.ts';
import { prepareAll, prepareOne } from '../prepare-one.ts';
import { ADDRESS, type BinSetup, listOf, NO_BIN, openBin, PAGE } from './bin-host.ts';

/** Prepares the removal of page.html, with `x` as the given file's content; `null` means no file. */
async function prepareRemoval(setup: BinSetup = {}, content: string | null = 'x', name = 'page.html') {
  const opened = openBin({ binIsNew: false, list: await listOf({ 'page.html': 'x' }), ...setup });
  const file = content === null ? null : await localFile(content);
  return { ...opened, task: await prepareOne(opened.remover, file, name) };
}

test.each([
  [302, 'HOST_ERROR', 1],
  [403, 'HOST_ERROR', 1],
  [429, 'RATE_LIMITED', 3],
  [500, 'HOST_ERROR', 5],
  // The bin host itself never sends a page.
  [200, 'HOST_ERROR', 5],
] as const)(
  'removing a file through channel K3 fails for HTTP %i as %s after %i attempts',
  async (status, code, attempts) => {
    const { kinds, task } = await prepareRemoval({ remove: { ...(status === 200 && PAGE), status } });
    await expect(task.perform()).rejects.toMatchObject({
      ...{ code, httpCode: status, hint: 'check `bin:` and `bin-host-url:`, or try again' },
      message: expect.stringMatching(new RegExp(` answered HTTP ${status}( with a page)?$`)),
    });
    expect(kinds()).toBe(`GET${' DELETE'.repeat(attempts)}`);
  },
);

const OURS = { preview: 'page.html would be deleted', written: true, kinds: 'GET GET DELETE' };
const NOTHING = { preview: 'nothing exists there', written: false, kinds: 'GET GET' };
const notOurs = (message: RegExp) => ({
  ...{ code: 'NOT_OURS', message: expect.stringMatching(message) },
  hint: expect.stringMatching(/`file:`.*`overwrite: true`/),
});

const listed = (files: readonly object[]): Scripted => ({ body: { bin: {}, files } });
test.each<[string, BinSetup, string | null, typeof OURS | object]>([
  ['the same bytes', {}, 'x', OURS],
  ['other bytes', {}, 'y', notOurs(/its bytes differ from the given file/)],
  ['no file at hand', {}, null, notOurs(/no file was given/)],
  ['other bytes, with overwrite', { overwrite: true }, 'y', OURS],
  ['no file at hand, with overwrite', { overwrite: true }, null, OURS],
  ['a file that is gone by then', { remove: { ...PAGE, status: 404 } }, 'x', { ...OURS, written: false }],
  ['other names only', { list: listed([{ filename: 'b.html', sha256: 'ff' }]) }, null, NOTHING],
  ['no bin', { list: NO_BIN }, null, NOTHING],
  ['a deleted bin', { list: { status: 404, body: { bin: {}, files: null } } }, null, NOTHING],
  ['a bin that is not shown', { list: { status: 403 }, overwrite: true }, 'x', { code: 'HOST_ERROR' }],
  ['a page', { list: { body: '<html>' }, overwrite: true }, 'x', { code: 'HOST_ERROR' }],
  ['a failing host', { list: { status: 500 } }, 'x', { code: 'HOST_ERROR' }],
])('whose a file in a bin is is told by its bytes: %s', async (_, setup, content, verdict) => {
  const { kinds, task } = await prepareRemoval(setup, content);
  if ('code' in verdict) {
    await expect(task.preview()).rejects.toMatchObject(verdict);
    await expect(task.perform()).rejects.toMatchObject(verdict);
    expect(kinds()).not.toContain('DELETE');
    return;
  }
  const { preview, written, kinds: asked } = verdict as typeof OURS;
  await expect(task.preview()).resolves.toBe(preview);
  await expect(task.perform()).resolves.toMatchObject({
    written,
    first: { url: new URL(`${ADDRESS}/page.html`) },
  });
  expect(kinds()).toBe(asked);
});

test('removing several files gives each its own result, and lists the bin once', async () => {
  const list = await listOf({ 'a.txt': 'x', 'b.txt': 'x', 'c.txt': 'x' });
  const remove = [200, 403, 404].map((status) => ({ status }));
  const { kinds, remover } = openBin({ binIsNew: false, list, remove });
  const file = await localFile('x');
  const tasks = await prepareAll(
    remover,
    ['a.txt', 'b.txt', 'c.txt'].map((name) => ({ file, name })),
  );
  expect(await remover.perform(tasks)).toMatchObject([
    { written: true, first: { url: new URL(`${ADDRESS}/a.txt`) } },
    { code: 'HOST_ERROR', httpCode: 403 },
    { written: false, evidence: 'nothing exists there' },
  ]);
  expect(kinds()).toBe('GET DELETE DELETE DELETE');
});
