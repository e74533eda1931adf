import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Channels, Intent } from '../../src/channels/channel.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import type { RawInputs } from '../../src/delivery/inputs.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { Circumstances, Needs } from '../../src/github/survey.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { circumstancesWith, siteWith } from '../channels/circumstances.ts';
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
}

async function delivering(stage: Stage = {}) {
  const folder = await temporaryFolder();
  if (stage.bytes !== null) await writeFile(join(folder, 'page.html'), stage.bytes ?? BYTES);
  const host = new FakeHttp(() => stage.answer ?? { body: BYTES });
  const ports = fakePorts(host.http);
  const asked: Needs[] = [];
  const report = await deliver(requestWith(stage.inputs, { folder }), {
    ports,
    authorise: async (needs) => {
      asked.push(needs);
      const circumstances = (await stage.survey?.(needs)) ?? circumstancesWith(stage.circumstances);
      return { circumstances, channels: stage.channels ?? channelsOf({ K1: intentWith() }) };
    },
  });
  return { report, host, lines: ports.logger.lines, asked };
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
