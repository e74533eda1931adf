import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { type CliCommand, parseCommand } from '../../src/cli/args.ts';
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
  await mkdir(join(folder, 'folder'));
});

/** Runs `check` on files of the folder. No request may be sent. */
async function check(names: readonly string[], ...flags: string[]) {
  return checkWith({}, names, ...flags);
}

/** The same with environment variables. */
async function checkWith(env: NodeJS.ProcessEnv, names: readonly string[], ...flags: string[]) {
  const terminal = fakeTerminal(new FakeLogger());
  const files = names.map((name) => join(folder, name));
  const command: CliCommand = parseCommand(['check', ...flags, '--', ...files]);
  const host = new FakeHttp(() => undefined);
  const allDeliverable = await deliverAll(command, terminal, fakePorts(host.http), env);
  expect(host.seen).toEqual([]);
  return { allDeliverable, printed: terminal.printed, file: files[0] };
}

describe('check accepts a file', () => {
  test('and prints its size and SHA-256', async () => {
    const { allDeliverable, printed, file } = await check(['page.html']);
    expect(allDeliverable).toBe(true);
    expect(printed).toEqual([
      `${file}: can be delivered, ${Buffer.byteLength(PAGE)} bytes, sha256 ${SHA256}; UNKNOWN: everything that only a real run can show`,
    ]);
  });
});

describe('check refuses', () => {
  test.each([
    ['empty.html', [], /is empty. To change: check what writes it/],
    ['absent.html', [], /does not exist. To change: /],
    ['page.html', ['--path', 'previews/week'], /browsers download. To change: set `?--path previews\/week\//],
    ['folder', [], /has no file to deliver. To change: /],
    ['page.html', ['--marker', 'marker-43'], /marker was not found in the file.* To change: /],
    // A name that no channel accepts.
    ['.git', [], /leads into \.git. To change: choose another place$/],
  ])('%s with the flags %j', async (name, flags, message) => {
    const { allDeliverable, printed, file } = await check([name], ...flags);
    expect(allDeliverable).toBe(false);
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(message);
    expect(printed[0]?.startsWith(`${file}: can't be delivered: `)).toBe(true);
  });

  test('a page for the screen that needs other files, and no page for download', async () => {
    await writeFile(join(folder, 'linked.html'), '<script src="x.js"></script>');
    const { allDeliverable, printed } = await check(['linked.html']);
    expect(allDeliverable).toBe(false);
    expect(printed[0]).toMatch(/script x\.js.* To change: /);
    await expect(check(['linked.html'], '--channel', 'K3')).resolves.toMatchObject({ allDeliverable: true });
  });
});
