import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ChannelMap, PreparedTask } from '../../src/channels/channel.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import { findLiteralFiles } from '../../src/delivery/find-files.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { RepositoryContext, RepositoryQuery } from '../../src/github/api/repository.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { findSecrets } from '../../src/rules/secrets/secrets.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { drawn, fileOf } from '../rules/secrets/fake-secrets.ts';
import { FakeScreen } from '../support/fake-screen.ts';
import { listOpenFiles } from '../support/file-handles.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../support/ports.ts';
import {
  channelsWith,
  FakeChannel,
  type FakeOutcome,
  PAGE,
  placementWith,
  planWith,
  requestWith,
  taskWith,
} from './builders.ts';

const BYTES = '<p>It works</p>';

interface Stage {
  readonly inputs?: Partial<RawInputs>;
  readonly bytes?: string | null;
  readonly channels?: ChannelMap;
  readonly circumstances?: Partial<RepositoryContext>;
  readonly survey?: (needs: RepositoryQuery) => Promise<RepositoryContext>;
  readonly answer?: Scripted | Error;
  readonly screen?: FakeScreen;
  /** Further credentials of the job. */
  readonly secrets?: readonly string[];
  /** The file's name on disk; `page.html` unless told. */
  readonly name?: string;
}

async function delivering(stage: Stage = {}) {
  const folder = await temporaryFolder();
  const bytes = stage.bytes ?? BYTES;
  const file = stage.name ?? 'page.html';
  if (stage.bytes !== null) await writeFile(join(folder, file), bytes);
  const host = new FakeHttp(() => stage.answer ?? { body: bytes });
  const ports = fakePorts(host.http);
  const asked: RepositoryQuery[] = [];
  const around = { folder, secrets: stage.secrets ?? [] };
  const reports = await deliver(requestWith({ file, ...stage.inputs }, around), {
    ...ports,
    findFiles: findLiteralFiles,
    screen: stage.screen ?? new FakeScreen(),
    openRepository: async (query) => {
      asked.push(query);
      const repository = (await stage.survey?.(query)) ?? repositoryContextWith(stage.circumstances);
      return { repository, channels: stage.channels ?? channelsWith({ K1: taskWith() }) };
    },
  });
  const [report] = reports;
  if (report === undefined) throw new Error('there is no report');
  return { report, reports, host, lines: ports.logger.lines, asked, path: join(folder, file) };
}

function binIntent(failing?: Error): PreparedTask<FakeOutcome> {
  const {
    rawUrl: _,
    commitSha: __,
    ...placement
  } = placementWith({
    url: new URL('https://filebin.net/b/f'),
    bypassCache: false,
  });
  const plan = planWith({ channel: 'K3', destination: 'bin b, name f' });
  return taskWith(failing ?? placement, undefined, plan);
}

describe('a delivery', () => {
  test.each<[string, Stage]>([
    ['ready', {}],
    ['refused for a secret', { bytes: `ghp_${drawn(36)}` }],
    ['refused by its channel', { channels: channelsWith({ K1: new DeliveryError('NOT_FOUND', 'no site') }) }],
  ])('that is %s lets go of the file', async (_, stage) => {
    const { path } = await delivering(stage);
    expect(listOpenFiles(dirname(path))).toEqual([]);
  });

  test('prepares every channel before any of them writes', async () => {
    const main = new FakeChannel(taskWith());
    const channels = channelsWith({ K1: main, K3: new DeliveryError('BAD_INPUT', 'no bin') });
    const { report } = await delivering({ channels, inputs: { channel: 'K1+K3' } });
    expect(report.notReady).toMatchObject({ step: 'check', reason: 'no bin' });
    expect(main.placed).toEqual([]);
  });
});

describe('what is asked before choosing', () => {
  test.each<[string, RepositoryQuery]>([
    ['auto', { site: true, repository: true }],
    ['K1', { site: true, repository: false }],
    ['K2', { site: false, repository: true }],
    ['K3', { site: false, repository: false }],
    ['K3+K1', { site: true, repository: false }],
  ])('for %s is no more than it needs', async (channel, needs) => {
    const { asked } = await delivering({ inputs: { channel } });
    expect(asked).toEqual([needs]);
  });
});

describe('a delivery that fails', () => {
  test.each<[string, Stage, string, string]>([
    ['a marker that is not in the file', { inputs: { marker: 'other' } }, 'check', 'BAD_INPUT'],
    [
      'a token that opens nothing',
      { survey: () => Promise.reject(new DeliveryError('BAD_TOKEN', 'bad', { httpCode: 401 })) },
      'authorize',
      'BAD_TOKEN',
    ],
    [
      'a channel that refuses',
      { channels: channelsWith({ K1: new DeliveryError('BAD_INPUT', 'no') }) },
      'check',
      'BAD_INPUT',
    ],
    [
      'a host that can not be asked how the branch is',
      { channels: channelsWith({ K1: new DeliveryError('NO_NETWORK', 'no answer') }) },
      'place',
      'NO_NETWORK',
    ],
    ['a mistake of ours', { channels: channelsWith({}) }, 'place', 'INTERNAL'],
  ])('because of %s never throws: the report says so', async (_, stage, step, code) => {
    const { report } = await delivering(stage);
    expect(report).toMatchObject({ ready: false, url: null, notReady: { step, code } });
    expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО → /);
  });
});

/** Channels that note what was placed. */
function notingChannels() {
  const release = taskWith(placementWith({ bypassCache: false }), undefined, planWith({ channel: 'K2' }));
  const played = [
    new FakeChannel(taskWith()),
    new FakeChannel(release),
    new FakeChannel(binIntent()),
  ] as const;
  const [K1, K2, K3] = played;
  return { placed: () => played.flatMap(({ placed }) => placed), channels: channelsWith({ K1, K2, K3 }) };
}

describe('a secret in the file', () => {
  const SECRET = `ghp_${drawn(36)}`;
  const bytes = `<p>one</p>\n<p>${SECRET}</p>\n`;
  const fingerprint = async (): Promise<string> => {
    const [finding] = await findSecrets(fileOf(bytes), new AbortController().signal);
    return finding?.fingerprint ?? '';
  };

  test('is told before everything else that is wrong with the page, in one round', async () => {
    const page = `${bytes}<script src="https://cdn.example.com/a.js"></script>`;
    const { report, asked } = await delivering({ bytes: page, inputs: { marker: 'not in it' } });
    expect(report.notReady?.findings).toEqual({
      about: 'several things are wrong with page.html',
      lines: [
        expect.stringContaining('looks like a secret: github in line 2 column 4'),
        'the marker was not found in the file page.html',
        expect.stringMatching(/^page\.html line 3: script /),
      ],
    });
    expect(asked).toEqual([]);
    const { report: download } = await delivering({ bytes: page, inputs: { channel: 'K2' } });
    expect(download.notReady?.findings).toBeUndefined();
  });

  test('is let pass by its fingerprint, among others and in any case of letters', async () => {
    const allowed = `0123456789abcdef,\n${(await fingerprint()).toUpperCase()}`;
    const { report, lines } = await delivering({ bytes, inputs: { 'allow-secret': allowed } });
    expect(report).toMatchObject({ ready: true, url: PAGE.href });
    expect(JSON.stringify([report, lines])).not.toContain(SECRET);
  });

  test.each<[string, Stage]>([
    ['the token', { inputs: { token: SECRET } }],
    ['a further credential of the job', { secrets: ['other', SECRET] }],
  ])('that is %s stops the delivery whatever is allowed', async (_, stage) => {
    const inputs = { ...stage.inputs, 'allow-secret': await fingerprint() };
    const { report, asked, host } = await delivering({ ...stage, bytes, inputs });
    expect(report.notReady).toMatchObject({
      step: 'check',
      code: 'BAD_FILE',
      reason: 'the file page.html contains a credential of this environment',
      hint: expect.stringContaining('revoke'),
    });
    expect({ asked, seen: host.seen }).toEqual({ asked: [], seen: [] });
    expect(JSON.stringify(report)).not.toContain(SECRET);
  });
});

describe('a page that needs something from elsewhere', () => {
  const bytes = '<p>one</p>\n<script src="https://cdn.octo.dev/x.js?key=1"></script>\n';
  const NEEDS = 'page.html line 2: script https://cdn.octo.dev/x.js?… is loaded from another host';

  test.each([
    ['auto', 'auto', null],
    ['K1', 'auto', null],
    ['K2+K1', 'auto', null],
    ['K2', 'auto', []],
    ['K3', 'auto', []],
    ['K2+K3', 'auto', []],
    ['K1', 'warn', [NEEDS]],
    ['K3+K1', 'warn', [NEEDS]],
    ['K1', 'off', []],
  ])('through %s with `self-contained: %s` is told as %j, or refused before any write', async (...row) => {
    const [channel, selfContained, unknown] = row;
    const { placed, channels } = notingChannels();
    const inputs = { channel, 'self-contained': selfContained };
    const { report, host } = await delivering({ bytes, channels, inputs });
    if (unknown !== null) {
      expect(report).toMatchObject({ ready: true, unknown });
      return;
    }
    const hint = expect.stringContaining('`self-contained: warn`');
    expect(report.notReady).toMatchObject({
      step: 'check',
      code: 'BAD_FILE',
      reason: `page.html is not self-contained: ${NEEDS}`,
      hint,
    });
    expect({ placed: placed(), seen: host.seen }).toEqual({ placed: [], seen: [] });
  });

  test('is refused as well where only the name that it is given makes it a page', async () => {
    const { placed, channels } = notingChannels();
    const { report } = await delivering({
      bytes,
      channels,
      name: 'page.txt',
      inputs: { channel: 'K1', path: 'shown/page.html' },
    });
    expect(report.notReady).toMatchObject({ step: 'check', code: 'BAD_FILE' });
    expect(placed()).toEqual([]);
  });
});

describe('several files', () => {
  const pageOf = (name: string): URL => new URL(`https://octo.github.io/site/${name}`);

  /** K1 as it takes each file under its own name; `refused` is one that it can't place. */
  const site = (refused: string) =>
    new FakeChannel(({ name }) => {
      const { rawUrl: _, ...placement } = placementWith({ url: pageOf(name), bypassCache: false });
      const outcome = name === refused ? new DeliveryError('NOT_OURS', 'no') : placement;
      return taskWith(outcome, undefined, planWith({ destination: `path ${name}` }));
    });

  interface Batch {
    readonly files: Readonly<Record<string, string>>;
    readonly K1: FakeChannel;
    readonly others?: Parameters<typeof channelsWith>[0];
    readonly inputs?: Partial<RawInputs>;
  }

  async function deliveringAll({ files, K1, others, inputs }: Batch) {
    const folder = await temporaryFolder();
    for (const [name, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), bytes);
    }
    const host = new FakeHttp(({ url }) => {
      const [, bytes] = Object.entries(files).find(([name]) => url.endsWith(`/${name}`)) ?? [];
      return bytes === undefined ? { status: 404 } : { body: bytes };
    });
    const ports = fakePorts(host.http);
    const asked = { file: Object.keys(files).join('\n'), channel: 'K1', ...inputs };
    const reports = await deliver(requestWith(asked, { folder }), {
      ...ports,
      findFiles: findLiteralFiles,
      screen: new FakeScreen(),
      openRepository: async () => ({
        repository: repositoryContextWith(),
        channels: channelsWith({ K1, ...others }),
      }),
    });
    return { reports };
  }

  const codes = (reports: readonly Report[]) => reports.map(({ notReady }) => notReady?.code ?? null);
  const two = { 'a.html': '<p>a</p>', 'sub/b.html': '<p>b</p>' };

  test('for one place: the second is refused before anything is written, the first is delivered', async () => {
    const K1 = new FakeChannel(({ name }) =>
      taskWith(
        placementWith({ url: pageOf(name), bypassCache: false }),
        undefined,
        planWith({ destination: `path ${name.toLowerCase()}` }),
      ),
    );
    const { reports } = await deliveringAll({ files: { 'a.html': 'a', 'A.html': 'A' }, K1 });
    expect(codes(reports)).toEqual([null, 'BAD_INPUT']);
    expect(reports[1]?.notReady).toMatchObject({
      step: 'check',
      reason: 'a.html and A.html would both go to path a.html',
    });
    expect(K1.placed).toEqual([['path a.html']]);
  });

  test.each<[string, Readonly<Record<string, readonly string[]>>, readonly (string | null)[]]>([
    [
      'a.html and b.html',
      { 'a.html': ['a', 'a.png'], 'b.html': ['b', 'a.png'], 'c.html': ['b'] },
      [null, 'BAD_INPUT', null],
    ],
    ['two files of b.html', { 'a.html': ['a'], 'b.html': ['b', 'a.png', 'a.png'] }, [null, 'BAD_INPUT']],
  ])(
    'that write one path besides their own are refused, such as a picture: %s',
    async (both, writes, expected) => {
      const K1 = new FakeChannel(({ name }) => ({
        ...taskWith(
          placementWith({ url: pageOf(name), bypassCache: false }),
          undefined,
          planWith({ destination: name }),
        ),
        writes: writes[name] ?? [],
      }));
      const files = Object.fromEntries(Object.keys(writes).map((name) => [name, name]));
      const { reports } = await deliveringAll({ files, K1, inputs: { picture: 'true' } });
      expect(codes(reports)).toEqual(expected);
      expect(reports[1]?.notReady).toMatchObject({
        reason: `${both} would both go to a.png`,
        hint: expect.stringContaining('`picture: false`'),
      });
    },
  );

  test('have a duplicate each, whatever became of their main ones', async () => {
    const K3 = new FakeChannel(({ name }) => {
      const { rawUrl: _, ...placement } = placementWith({
        url: new URL(`https://filebin.net/b/${name}`),
        bypassCache: false,
      });
      return taskWith(placement, undefined, planWith({ channel: 'K3', destination: `bin b, ${name}` }));
    });
    const K1 = site('a.html');
    const inputs = { channel: 'K1+K3' };
    const { reports } = await deliveringAll({ files: two, K1, others: { K3 }, inputs });
    expect(codes(reports)).toEqual(['NOT_OURS', null]);
    expect(reports.map(({ duplicates }) => duplicates.map(({ url }) => url))).toEqual([
      ['https://filebin.net/b/a.html'],
      ['https://filebin.net/b/sub/b.html'],
    ]);
    expect(K3.placed).toEqual([['bin b, a.html', 'bin b, sub/b.html']]);
  });
});
