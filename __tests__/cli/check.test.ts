import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { parseCommand } from '../../src/cli/args.ts';
import { deliverAll } from '../../src/cli/deliver.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, FakeLogger, fakePorts } from '../support/ports.ts';
import { fakeTerminal } from './terminals.ts';

const PAGE = '<p>marker-42</p>\n';
const SHA256 = createHash('sha256').update(PAGE).digest('hex');
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'page.html'), PAGE);
  await writeFile(join(folder, 'empty.html'), '');
  await writeFile(join(folder, 'linked.html'), '<script src="x.js"></script>');
  await mkdir(join(folder, 'folder'));
});

/** Runs `check` on one file of the folder. No request may be sent. */
async function check(name: string, ...flags: string[]) {
  const terminal = fakeTerminal(new FakeLogger());
  const file = join(folder, name);
  const host = new FakeHttp(() => undefined);
  const command = parseCommand(['check', ...flags, '--', file]);
  const isGood = await deliverAll(command, terminal, fakePorts(host.http), {});
  expect([host.seen, terminal.printed.length]).toEqual([[], 1]);
  return { isGood, file, said: terminal.printed[0] ?? '' };
}

test('check accepts a file, and prints its size and SHA-256', async () => {
  const { isGood, said, file } = await check('page.html');
  expect([isGood, said]).toEqual([
    true,
    `${file}: can be delivered, ${Buffer.byteLength(PAGE)} bytes, sha256 ${SHA256}; UNKNOWN: whether its host takes it and a browser shows it: a check reads the files alone; UNKNOWN: everything that only a real run can show`,
  ]);
});

test.each([
  ['empty.html', [], /is empty. To change: check what writes it/],
  ['absent.html', [], /does not exist. To change: /],
  ['page.html', ['--path', 'previews/week'], /browsers download. To change: set `?--path previews\/week\//],
  ['folder', [], /has no file to deliver. To change: /],
  ['page.html', ['--marker', 'marker-43'], /marker was not found in the file.* To change: /],
  // A name that no channel accepts.
  ['.git', [], /leads into \.git. To change: choose another place$/],
  ['linked.html', [], /script x\.js.* To change: /],
])('check refuses %s with the flags %j', async (name, flags, message) => {
  const { isGood, said, file } = await check(name, ...flags);
  expect(isGood).toBe(false);
  expect(said).toMatch(message);
  expect(said.startsWith(`${file}: can't be delivered: `)).toBe(true);
});

test('check accepts a page that needs other files for a download', async () => {
  expect((await check('linked.html', '--channel', 'K3')).isGood).toBe(true);
});
