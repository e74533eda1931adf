import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { type CliCommand, parseCommand } from '../../src/cli/args.ts';
import { checkFiles } from '../../src/cli/check.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, FakeLogger, fakePorts } from '../support/ports.ts';

const PAGE = '<p>marker-42</p>\n';
const SHA256 = createHash('sha256').update(PAGE).digest('hex');
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'page.html'), PAGE);
  await writeFile(join(folder, 'empty.html'), '');
  await mkdir(join(folder, 'folder'));
});

/** Runs `check` on files of the folder; nothing may be asked of any host. */
async function check(names: readonly string[], ...flags: string[]) {
  const printed: string[] = [];
  const terminal: Terminal = {
    print: (text) => void printed.push(text),
    complain: () => undefined,
    logger: new FakeLogger(),
  };
  const files = names.map((name) => join(folder, name));
  const command: CliCommand = parseCommand(['check', ...flags, '--', ...files]);
  const host = new FakeHttp(() => undefined);
  const fit = await checkFiles(command, terminal, fakePorts(host.http));
  expect(host.seen).toEqual([]);
  return { fit, printed, file: files[0] };
}

describe('a file that is fit', () => {
  test('is told with its size and SHA-256', async () => {
    const { fit, printed, file } = await check(['page.html']);
    expect(fit).toBe(true);
    expect(printed).toEqual([
      `${file}: fit to be delivered, ${Buffer.byteLength(PAGE)} bytes, sha256 ${SHA256}`,
    ]);
  });

  test('holds the marker', async () => {
    await expect(check(['page.html'], '--marker', 'marker-42')).resolves.toMatchObject({ fit: true });
  });
});

describe('a file that is not', () => {
  test.each([
    ['empty.html', [], /is empty. To change: check the step/],
    ['absent.html', [], /does not exist. To change: /],
    ['folder', [], /is a folder. To change: /],
    ['page.html', ['--marker', 'marker-43'], /marker was not found in the file.* To change: /],
    // A name that no channel takes; the refusal itself says what to change.
    ['.git', [], /leads into \.git: choose another folder$/],
  ])('%s %j', async (name, flags, says) => {
    const { fit, printed, file } = await check([name], ...flags);
    expect(fit).toBe(false);
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(says);
    expect(printed[0]?.startsWith(`${file}: not fit: `)).toBe(true);
  });

  test('keeps no other from being checked, and none from being told', async () => {
    const { fit, printed } = await check(['empty.html', 'page.html']);
    expect(fit).toBe(false);
    expect(printed.map((line) => / fit\b/.test(line) && !line.includes('not fit'))).toEqual([false, true]);
  });
});

test('with --json the findings are one JSON array', async () => {
  const { fit, printed } = await check(['page.html', 'empty.html'], '--json');
  expect(fit).toBe(false);
  expect(printed).toHaveLength(1);
  expect(JSON.parse(printed[0] ?? '')).toEqual([
    { file: join(folder, 'page.html'), fit: true, size: Buffer.byteLength(PAGE), sha256: SHA256 },
    {
      file: join(folder, 'empty.html'),
      fit: false,
      reason: expect.stringContaining('is empty'),
      hint: expect.stringContaining('check the step'),
    },
  ]);
});
