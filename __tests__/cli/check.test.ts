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

test.each<[string, readonly string[], RegExp]>([
  [
    'page.html',
    [],
    new RegExp(
      `can be delivered to GitHub Pages\n  ${Buffer.byteLength(PAGE)} bytes, sha256 ${SHA256}\n  (?:Not verified: .*\n  )*Not verified: everything`,
    ),
  ],
  // It needs other files, which a download does not.
  ['linked.html', ['--channel', 'K3'], /can be delivered/],
  ['linked.html', [], /script x\.js.*\n {2}To fix: /],
  ['empty.html', [], /is empty\n {2}To fix: check the program that writes it/],
  ['absent.html', [], /does not exist\n {2}To fix: /],
  ['page.html', ['--path', 'previews/week'], /browsers download\n {2}To fix: set `?--path previews\/week\//],
  ['folder', [], /contains no files to deliver\n {2}To fix: /],
  ['page.html', ['--marker', 'marker-43'], /expected text was not found in the file.*\n {2}To fix: /],
  // A name that no channel accepts.
  ['.git', [], /leads into \.git\n {2}To fix: choose another path$/],
])('check says of %s with the flags %j whether it can be delivered, and asks no host', async (...row) => {
  const [name, flags, said] = row;
  const terminal = fakeTerminal(new FakeLogger());
  const file = join(folder, name);
  const host = new FakeHttp(() => undefined);
  const isGood = await deliverAll(
    parseCommand(['check', ...flags, '--', file]),
    terminal,
    fakePorts(host.http),
    { GITHUB_TOKEN: 'ghp_AbCd0123', GITHUB_REPOSITORY: 'octo/pages-demo' },
  );
  const [text = ''] = terminal.printed;
  expect(text).toMatch(said);
  expect(text.startsWith(`${file}: ${isGood ? 'can' : "can't"} be delivered`)).toBe(true);
  expect([host.seen, terminal.printed.length]).toEqual([[], 1]);
});
