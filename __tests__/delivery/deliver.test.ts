import { existsSync } from 'node:fs';
import { access, readdir, readlink, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Channels, Intent } from '../../src/channels/channel.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import type { RawInputs } from '../../src/delivery/inputs.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { Circumstances, Needs } from '../../src/github/survey.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { findSecrets } from '../../src/rules/secrets/secrets.ts';
import { circumstancesWith, siteWith } from '../channels/circumstances.ts';
import { drawn, fileOf } from '../rules/secrets/fake-secrets.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../support/ports.ts';
import { channelsOf, intentWith, PAGE, placementWith, planWith, requestWith } from './builders.ts';

const BYTES = '<p>It works</p>';

interface Stage {
  readonly inputs?: Partial<RawInputs>;
  readonly bytes?: string | null;
  readonly channels?: Channels;
  readonly circumstances?: Partial<Circumstances>;
  readonly survey?: (needs: Needs) => Promise<Circumstances>;
  readonly answer?: Scripted | Error;
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
  const asked: Needs[] = [];
  const around = { folder, secrets: stage.secrets ?? [] };
  const report = await deliver(requestWith({ file, ...stage.inputs }, around), {
    ports,
    authorise: async (needs) => {
      asked.push(needs);
      const circumstances = (await stage.survey?.(needs)) ?? circumstancesWith(stage.circumstances);
      return { circumstances, channels: stage.channels ?? channelsOf({ K1: intentWith() }) };
    },
  });
  return { report, host, lines: ports.logger.lines, asked, path: join(folder, file) };
}

const binIntent = (more: Partial<Intent> = {}): Intent => {
  const {
    rawUrl: _,
    commitSha: __,
    ...placement
  } = placementWith({ url: new URL('https://filebin.net/b/f') });
  const plan = planWith({ channel: 'K3', destination: 'bin b, name f' });
  return { ...intentWith({ ...placement, bustCaches: false }, undefined, plan), ...more };
};

describe('a delivery', () => {
  test('goes from check to report and hands the proven address over', async () => {
    const { report, lines } = await delivering({ inputs: { marker: 'It works' } });
    expect(report).toMatchObject({ ready: true, url: PAGE.href, channel: 'K1', notReady: null });
    expect(lines.filter((line) => line.startsWith('# '))).toEqual([
      '# Check page.html',
      '# Authorise',
      '# Plan',
      '# Place: K1, branch main, path page.html',
      '# Verify the public address',
    ]);
    expect(lines).toContain('the marker stands in it 1 ×');
  });

  test('of a link alone checks no file', async () => {
    const link: Intent = intentWith(
      placementWith({ bustCaches: false }),
      undefined,
      planWith({ channel: 'K4' }),
    );
    const { report, lines } = await delivering({
      inputs: { file: '', url: 'https://a.dev/x', marker: 'It works' },
      channels: channelsOf({ K4: link }),
    });
    expect(report).toMatchObject({ ready: true, file: null, channel: 'K4' });
    expect(lines.join('\n')).not.toContain('# Check');
  });

  test('lets go of the file whatever happens', async () => {
    const kept: LocalFile[] = [];
    const channels = {
      ...channelsOf({}),
      K1: {
        key: 'K1' as const,
        prepare: async (file: LocalFile | null) => {
          if (file !== null) kept.push(file);
          throw new DeliveryError('NOT_FOUND', 'no site');
        },
      },
    };
    await delivering({ channels });
    await expect(kept[0]?.headSha256(1)).rejects.toThrow();
  });

  test('prepares every channel before any of them writes', async () => {
    const placed: string[] = [];
    const main = intentWith();
    const channels = channelsOf({
      K1: { ...main, place: async () => placed.push('K1') as never },
      K3: new DeliveryError('BAD_INPUT', 'no bin'),
    });
    const { report } = await delivering({ channels, inputs: { channel: 'K1+K3' } });
    expect(report.notReady).toMatchObject({ step: 'check', reason: 'no bin' });
    expect(placed).toEqual([]);
  });
});

describe('what is asked before choosing', () => {
  test.each<[string, Needs]>([
    ['auto', { site: true, repository: true }],
    ['K1', { site: true, repository: false }],
    ['K2', { site: false, repository: true }],
    ['K3', { site: false, repository: false }],
    ['K3+K1', { site: true, repository: false }],
  ])('for %s is no more than it needs', async (channel, needs) => {
    const { asked } = await delivering({ inputs: { channel } });
    expect(asked).toEqual([needs]);
  });

  test.each<[Partial<Circumstances>, readonly string[]]>([
    [
      {},
      [
        'there is a token',
        'the repository is public',
        'its Pages site on octo.github.io is built by branch main, folder /',
      ],
    ],
    [
      { site: siteWith({ builtBy: 'workflow', branch: null }), privateRepository: true },
      ['the repository is private', 'its Pages site on octo.github.io is built by a workflow'],
    ],
    [{ site: null }, ['it has no Pages site']],
    [{ site: 'unreadable' }, ["its Pages settings can't be read"]],
    [{ hasToken: false, privateRepository: null, site: 'unasked' }, ['there is no token for a repository']],
  ])('of %o is told in the log', async (circumstances, expected) => {
    const { lines } = await delivering({ circumstances, inputs: { channel: 'K1' } });
    for (const line of expected) expect(lines).toContain(line);
  });
});

describe('a delivery that fails', () => {
  test.each<[string, Stage, string, string]>([
    ['a file that is not there', { bytes: null }, 'check', 'BAD_FILE'],
    ['an empty file', { bytes: '' }, 'check', 'BAD_FILE'],
    ['a file that holds the token', { inputs: { token: 'It works' } }, 'check', 'BAD_FILE'],
    ['a marker that is not in the file', { inputs: { marker: 'other' } }, 'check', 'BAD_INPUT'],
    [
      'a token that opens nothing',
      { survey: () => Promise.reject(new DeliveryError('BAD_TOKEN', 'bad', { httpCode: 401 })) },
      'authorise',
      'BAD_TOKEN',
    ],
    [
      'only the public bin left for a private file',
      { circumstances: { hasToken: false, privateRepository: null, site: 'unasked' } },
      'authorise',
      'NOT_EXTERNAL',
    ],
    [
      'a channel that refuses',
      { channels: channelsOf({ K1: new DeliveryError('BAD_INPUT', 'no') }) },
      'check',
      'BAD_INPUT',
    ],
    [
      'a write that is refused',
      { channels: channelsOf({ K1: intentWith(new DeliveryError('NO_PERMISSION', 'no')) }) },
      'place',
      'NO_PERMISSION',
    ],
    ['a mistake of ours', { channels: channelsOf({}) }, 'check', 'INTERNAL'],
    ['an address that shows nothing', { answer: { status: 404 } }, 'verify', 'NOT_PROVEN'],
  ])('because of %s never throws: the report says so', async (_, stage, step, code) => {
    const { report } = await delivering(stage);
    expect(report).toMatchObject({ ready: false, url: null, notReady: { step, code } });
    expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО → /);
  });

  test('leaves the user’s file where it is', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'page.html');
    await writeFile(path, BYTES);
    const authorise = async () => ({ circumstances: circumstancesWith(), channels: channelsOf({}) });
    const house = { ports: fakePorts(), authorise };
    await deliver(requestWith({}, { folder }), house);
    await expect(access(path)).resolves.toBeUndefined();
  });
});

describe('duplicates', () => {
  const channels = channelsOf({ K1: intentWith(), K3: binIntent() });

  test('go their own way after the main one', async () => {
    const { report, lines } = await delivering({ channels, inputs: { channel: 'K1+K3' } });
    expect(report).toMatchObject({
      ready: true,
      url: PAGE.href,
      duplicates: [{ channel: 'K3', url: 'https://filebin.net/b/f', reason: null }],
    });
    expect(lines.filter((line) => line.startsWith('# Place'))).toEqual([
      '# Place: K1, branch main, path page.html',
      '# Place: K3, bin b, name f',
    ]);
  });

  test('that fail do not take the main one down', async () => {
    const place = () => Promise.reject(new DeliveryError('HOST_ERROR', 'full', { httpCode: 507 }));
    const { report } = await delivering({
      channels: channelsOf({ K1: intentWith(), K3: binIntent({ place }) }),
      inputs: { channel: 'K1+K3' },
    });
    expect(report).toMatchObject({ ready: true, duplicates: [{ url: null }] });
    expect(report.lines.UNKNOWN).toContain('the duplicate on K3 is not proven: full');
  });

  test('do not make a failed main one ready', async () => {
    const { report } = await delivering({
      channels: channelsOf({ K1: intentWith(new DeliveryError('NO_PERMISSION', 'no')), K3: binIntent() }),
      inputs: { channel: 'K1+K3' },
    });
    expect(report).toMatchObject({ ready: false, url: null });
  });
});

/** Channels that note what was placed. */
function notingChannels() {
  const placed: string[] = [];
  const noting = (key: 'K1' | 'K2' | 'K3', intent: Intent): Intent => ({
    ...intent,
    place: async () => {
      placed.push(key);
      return intent.place();
    },
  });
  const release = intentWith(placementWith({ bustCaches: false }), undefined, planWith({ channel: 'K2' }));
  const channels = channelsOf({
    K1: noting('K1', intentWith()),
    K2: noting('K2', release),
    K3: noting('K3', binIntent()),
  });
  return { placed, channels };
}

describe('a secret in the file', () => {
  const SECRET = `ghp_${drawn(36)}`;
  const bytes = `<p>one</p>\n<p>${SECRET}</p>\n`;
  const fingerprint = async (): Promise<string> => {
    const [finding] = await findSecrets(fileOf(bytes), new AbortController().signal);
    return finding?.fingerprint ?? '';
  };

  test.each(['auto', 'K1', 'K2', 'K3', 'K1+K3'])(
    'stops a delivery through %s before anything is asked or placed, and is repeated nowhere',
    async (channel) => {
      const { placed, channels } = notingChannels();
      const { report, host, asked, lines } = await delivering({ bytes, channels, inputs: { channel } });
      expect(report.notReady).toMatchObject({
        step: 'check',
        code: 'BAD_FILE',
        reason: `the file holds what looks like a secret: github in line 2 (fingerprint ${await fingerprint()})`,
        hint: expect.stringContaining(`\`allow-secret: ${await fingerprint()}\``),
      });
      expect({ placed, asked, seen: host.seen }).toEqual({ placed: [], asked: [], seen: [] });
      expect(JSON.stringify([report, lines])).not.toContain(SECRET);
    },
  );

  // Where the system tells which files a process has open.
  const told = existsSync('/proc/self/fd') ? test : test.skip;
  told('leaves the file closed', async () => {
    const { path } = await delivering({ bytes });
    const numbers = await readdir('/proc/self/fd');
    const opened = numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => ''));
    expect(await Promise.all(opened)).not.toContain(await realpath(path));
  });

  test('is let pass by its fingerprint, among others and in any case of letters', async () => {
    const allowed = `0123456789abcdef,\n${(await fingerprint()).toUpperCase()}`;
    const { report, lines } = await delivering({ bytes, inputs: { 'allow-secret': allowed } });
    expect(report).toMatchObject({ ready: true, url: PAGE.href });
    expect(JSON.stringify([report, lines])).not.toContain(SECRET);
  });

  test("is not let pass by another one's fingerprint", async () => {
    const { report } = await delivering({ bytes, inputs: { 'allow-secret': '0123456789abcdef' } });
    expect(report).toMatchObject({ ready: false, notReady: { code: 'BAD_FILE' } });
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
      reason: 'the file page.html holds a credential of this very job',
      hint: expect.stringContaining('revoke'),
    });
    expect({ asked, seen: host.seen }).toEqual({ asked: [], seen: [] });
    expect(JSON.stringify(report)).not.toContain(SECRET);
  });
});

describe('a page that needs something from elsewhere', () => {
  const bytes = '<p>one</p>\n<script src="https://cdn.octo.dev/x.js?key=1"></script>\n';
  const NEEDS = 'page.html is not self-contained: line 2 script https://cdn.octo.dev/x.js?…';

  test.each(['auto', 'K1', 'K1+K3', 'K3+K1', 'K2+K1'])(
    'is refused for %s, which shows it on the screen, before any channel writes',
    async (channel) => {
      const { placed, channels } = notingChannels();
      const { report, host } = await delivering({ bytes, channels, inputs: { channel } });
      expect(report).toMatchObject({
        ready: false,
        url: null,
        notReady: {
          step: 'check',
          code: 'BAD_FILE',
          reason: NEEDS,
          hint: expect.stringContaining('`self-contained: warn`'),
        },
      });
      expect({ placed, seen: host.seen }).toEqual({ placed: [], seen: [] });
    },
  );

  test.each(['K2', 'K3', 'K2+K3'])('passes for %s, which only hands it out', async (channel) => {
    const { channels } = notingChannels();
    const { report } = await delivering({ bytes, channels, inputs: { channel } });
    expect(report).toMatchObject({ ready: true, unknown: [] });
  });

  test.each(['K1', 'K3+K1'])(
    'is delivered by `warn` through %s, and UNKNOWN says what it needs',
    async (channel) => {
      const { channels } = notingChannels();
      const { report } = await delivering({ bytes, channels, inputs: { channel, 'self-contained': 'warn' } });
      expect(report).toMatchObject({ ready: true, unknown: [NEEDS] });
      expect(report.lines.UNKNOWN).toBe(NEEDS);
    },
  );

  test('keeps that UNKNOWN where the delivery fails later', async () => {
    const { report } = await delivering({
      bytes,
      channels: channelsOf({ K1: intentWith(new DeliveryError('NO_PERMISSION', 'no')) }),
      inputs: { 'self-contained': 'warn' },
    });
    expect(report.notReady).toMatchObject({ step: 'place', code: 'NO_PERMISSION' });
    expect(report.lines.UNKNOWN).toContain(NEEDS);
  });

  test('is delivered by `off` without a word', async () => {
    const { report } = await delivering({ bytes, inputs: { channel: 'K1', 'self-contained': 'off' } });
    expect(report).toMatchObject({ ready: true, unknown: [] });
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
    expect(placed).toEqual([]);
  });
});
