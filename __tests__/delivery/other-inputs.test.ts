import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { deliver } from '../../src/delivery/deliver.ts';
import type { DeliveryContext } from '../../src/delivery/delivery-context.ts';
import { findLiteralFiles } from '../../src/delivery/find-files.ts';
import { withdraw } from '../../src/delivery/withdraw.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { FakeScreen } from '../support/fake-screen.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts } from '../support/ports.ts';
import { channelsWith, requestWith, taskWith } from './builders.ts';

const BYTES = '<p>It works</p>';
let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder, 'site'));
  for (const path of ['page.html', 'second.html', 'site/index.html']) {
    await writeFile(join(folder, path), BYTES);
  }
});

async function runWith(
  run: typeof deliver,
  inputs: Partial<RawInputs>,
  findFiles: DeliveryContext['findFiles'] = findLiteralFiles,
) {
  const host = new FakeHttp(() => ({ body: BYTES }));
  const ports = fakePorts(host.http);
  let opened = 0;
  const reports = await run(requestWith(inputs, { folder }), {
    ...ports,
    findFiles,
    screen: new FakeScreen(),
    async openRepository() {
      opened += 1;
      return { repository: repositoryContextWith(), channels: channelsWith({ K1: taskWith() }) };
    },
  });
  return { reports, opened, lines: ports.logger.lines };
}

const KEEP = 'input `keep` had no effect: it is for a folder, and none was found';
const BIN_HOST =
  'input `bin-host-url` had no effect: it is for K3 (filebin) and K4 (native), and K1 was chosen, because a browser shows it';

describe('An input for a folder', () => {
  test('is a note of each of several files', async () => {
    const { reports } = await runWith(deliver, { file: 'page.html\nsecond.html', path: 'a/', keep: '20' });
    for (const report of reports) expect(report).toMatchObject({ notes: [KEEP] });
  });

  test('has its effect where a folder is among the files', async () => {
    const { reports } = await runWith(deliver, { file: 'site\npage.html', keep: '20' });
    expect(reports[0]?.ready).toBe(true);
    expect(reports.map(({ notes }) => notes)).toEqual([[], []]);
  });

  test('is a note where a pattern found only files in this run', async () => {
    const find: DeliveryContext['findFiles'] = () => findLiteralFiles(['page.html'], folder);
    const { reports, lines } = await runWith(deliver, { file: '*.html', keep: '20' }, find);
    expect(reports).toMatchObject([{ ready: true, notes: [KEEP] }]);
    expect(lines).toContain(KEEP);
  });

  test('leaves a missing file to the message that says so', async () => {
    const { reports } = await runWith(deliver, { file: 'gone.html', keep: '20' });
    expect(reports[0]?.notReady?.reason).toBe('the file gone.html does not exist');
  });

  test('matters to no withdrawal, for which the files need not exist', async () => {
    const { reports } = await runWith(withdraw, {
      file: 'page.html',
      keep: '20',
      operation: 'withdraw',
      token: 'ghp_AbCd0123',
    });
    expect(reports).toMatchObject([{ notes: [], operation: 'withdraw', channel: 'K1' }]);
  });
});

test.each([
  [deliver, 'deliver', BIN_HOST],
  [withdraw, 'withdraw', BIN_HOST.replace('a browser shows it', 'no other channel was named')],
] as const)(
  'An input of a channel that was not chosen is a note of the report and of the log (%#).',
  async (run, operation, note) => {
    const { reports, lines } = await runWith(run, {
      file: 'page.html',
      operation,
      token: 'ghp_AbCd0123',
      'bin-host-url': 'https://bin.dev',
      branch: 'main',
    });
    expect(reports).toMatchObject([{ notes: [note] }]);
    expect(lines.filter((line) => line === note)).toHaveLength(1);
  },
);
