import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { deliver } from '../../src/delivery/deliver.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { RepositoryQuery } from '../../src/github/api/repository.ts';
import { findFiles } from '../../src/request/find-files.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { ACTION } from '../../src/words.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { FakeScreen } from '../support/fake-screen.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts } from '../support/ports.ts';
import {
  channelsWith,
  FakeChannel,
  type FakePreparation,
  placementWith,
  requestWith,
  taskWith,
} from './builders.ts';

const BYTES = '<p>It works</p>';

interface Stage {
  readonly inputs?: Partial<RawInputs>;
  /** The files on disk by their names; all are delivered unless `inputs` says otherwise. */
  readonly files?: Readonly<Record<string, string>>;
  readonly channels?: Parameters<typeof channelsWith>[0];
  /** What the repository can't be asked for. */
  readonly refusal?: DeliveryError;
}

async function delivering({ files = { 'page.html': BYTES }, ...stage }: Stage = {}) {
  const folder = await temporaryFolder();
  for (const [name, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
  const host = new FakeHttp(({ url }) => {
    const [, bytes] = Object.entries(files).find(([name]) => url.endsWith(`/${name}`)) ?? [];
    return { body: bytes ?? Object.values(files)[0] ?? '' };
  });
  const ports = fakePorts(host.http);
  const asked: RepositoryQuery[] = [];
  const request = requestWith(
    { file: Object.keys(files).join('\n'), ...stage.inputs },
    { folder, findFiles },
  );
  const reports = await deliver({
    ...ports,
    request,
    screen: new FakeScreen(),
    face: ACTION,
    openFolder: temporaryFolder,
    openRepository: async (query) => {
      asked.push(query);
      if (stage.refusal !== undefined) throw stage.refusal;
      return {
        access: repositoryContextWith(),
        channels: channelsWith({ K1: taskWith(), ...stage.channels }),
      };
    },
  });
  const [report] = reports;
  if (report === undefined) throw new Error('there is no report');
  const codes = reports.map(({ notReady }) => notReady?.code ?? null);
  return { report, reports, codes, host, lines: ports.logger.lines, asked, folder };
}

/** As a host without caches shows a file of that name. */
const shownAt = (address: string) => {
  return placementWith({ on: 'K2', url: new URL(address) });
};
const inBin: FakePreparation = ({ name }) =>
  taskWith(shownAt(`https://filebin.net/b/${name}`), { channel: 'K3', destination: `bin b, ${name}` });

describe('a delivery', () => {
  test('prepares every channel before any of them writes', async () => {
    const K1 = new FakeChannel(taskWith());
    const channels = { K1, K3: new DeliveryError('BAD_INPUT', 'no bin') };
    const { report } = await delivering({ channels, inputs: { channel: 'K1+K3' } });
    expect(report.notReady).toMatchObject({ step: 'check', reason: 'no bin' });
    expect(K1.placed).toEqual([]);
  });

  test.each<[string, RepositoryQuery]>([
    ['auto', { pagesSettings: true, repository: true }],
    ['K1', { pagesSettings: true, repository: true }],
    ['K2', { pagesSettings: false, repository: true }],
    ['K3', { pagesSettings: false, repository: false }],
    ['K3+K1', { pagesSettings: true, repository: true }],
  ])('through %s asks the repository no more than it needs', async (channel, needs) => {
    const { asked } = await delivering({ inputs: { channel } });
    expect(asked).toEqual([needs]);
  });

  const refusal = new DeliveryError('BAD_TOKEN', 'bad', { httpCode: 401 });
  test.each<[string, Stage, string, string]>([
    ['a marker that is not in the file', { inputs: { marker: 'other' } }, 'check', 'BAD_INPUT'],
    ['a token that opens nothing', { refusal }, 'authorize', 'BAD_TOKEN'],
    ['a channel', { channels: { K1: new DeliveryError('BAD_INPUT', 'no') } }, 'check', 'BAD_INPUT'],
    ['its host', { channels: { K1: new DeliveryError('NO_NETWORK', 'no') } }, 'place', 'NO_NETWORK'],
    ['a mistake of ours', { channels: { K1: new Error('ours') } }, 'place', 'INTERNAL'],
  ])('that fails because of %s never throws: the report says so', async (_, stage, step, code) => {
    const { report } = await delivering(stage);
    expect(report).toMatchObject({ ready: false, url: null, notReady: { step, code } });
    expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО → /);
  });
});

describe('a page that needs something from elsewhere', () => {
  const bytes = '<p>one</p>\n<script src="https://cdn.octo.dev/x.js?key=1"></script>\n';
  const NEEDS = 'page.html line 2: script https://cdn.octo.dev/x.js?… is loaded from another host';
  const release = taskWith(placementWith({ on: 'K2' }), {
    channel: 'K2',
    destination: 'release r',
  });

  async function deliveringIt(inputs: Partial<RawInputs>, name = 'page.html') {
    const channels = {
      K1: new FakeChannel(taskWith()),
      K2: new FakeChannel(release),
      K3: new FakeChannel(inBin),
    };
    const delivered = await delivering({ files: { [name]: bytes }, channels, inputs });
    return { ...delivered, placed: Object.values(channels).flatMap(({ placed }) => placed) };
  }

  test.each([
    ['auto', 'auto', null],
    ['K2+K1', 'auto', null],
    ['K2+K3', 'auto', []],
    ['K3+K1', 'warn', [NEEDS]],
    ['K1', 'off', []],
  ])('through %s with `self-contained: %s` is told as %j, or refused before any write', async (...row) => {
    const [channel, selfContained, unknown] = row;
    const { report, host, placed } = await deliveringIt({ channel, 'self-contained': selfContained });
    if (unknown !== null) {
      expect(report).toMatchObject({ ready: true, unknown });
      return;
    }
    const hint = expect.stringContaining('`self-contained: warn`');
    const reason = NEEDS.replace('page.html', 'page.html is not self-contained:');
    expect(report.notReady).toMatchObject({ step: 'check', code: 'BAD_FILE', reason, hint });
    expect({ placed, seen: host.seen }).toEqual({ placed: [], seen: [] });
  });
});

describe('several files', () => {
  /** K1 as it takes each file under its own name, with what else it writes for it. */
  const siteOf = (writes?: Readonly<Record<string, readonly string[]>>) =>
    new FakeChannel(({ name }) => ({
      ...taskWith(shownAt(`https://octo.github.io/site/${name}`), {
        destination: `path ${name.toLowerCase()}`,
      }),
      ...(writes && { writes: writes[name] ?? [] }),
    }));

  test.each<[string, Readonly<Record<string, readonly string[]>>, readonly (string | null)[]]>([
    [
      'a.html and b.html',
      { 'a.html': ['a', 'a.png'], 'b.html': ['b', 'a.png'], 'c.html': ['b'] },
      [null, 'BAD_INPUT', null],
    ],
    ['two files of b.html', { 'a.html': ['a'], 'b.html': ['b', 'a.png', 'a.png'] }, [null, 'BAD_INPUT']],
  ])('that write one path besides their own, such as a picture, are refused: %s', async (...row) => {
    const [both, writes, expected] = row;
    const files = Object.fromEntries(Object.keys(writes).map((name) => [name, name]));
    const inputs = { channel: 'K1', picture: 'true' };
    const { reports, codes } = await delivering({ files, channels: { K1: siteOf(writes) }, inputs });
    expect(codes).toEqual(expected);
    const hint = expect.stringContaining('`picture: false`');
    expect(reports[1]?.notReady).toMatchObject({ reason: `${both} would both go to a.png`, hint });
  });
});
