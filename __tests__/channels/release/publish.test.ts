import { describe, expect, test } from '@jest/globals';
import { createRelease, type ReleaseOptions } from '../../../src/channels/release/publish.ts';
import { hasFailed, hasSucceeded } from '../../../src/errors.ts';
import type { Asset } from '../../../src/github/api/releases.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { asset, BYTES, DOWNLOADS, digestOf, INCOMING, OWN_DIGEST, RELEASE, taken } from '../assets.ts';
import { circumstancesWith } from '../circumstances.ts';
import { prepareOne } from '../one.ts';

interface Stage {
  /** What the release holds at each look; the last one for ever. */
  readonly assets?: readonly (readonly Asset[])[];
  /** What each upload is answered with; the last one for ever. */
  readonly uploads?: readonly (Scripted | Error)[];
  readonly answers?: ConstructorParameters<typeof FakeGitHub>[0];
  readonly options?: Partial<ReleaseOptions>;
  readonly name?: string;
}

const at = <T>(list: readonly T[], nth: number): T | undefined => list[Math.min(nth, list.length) - 1];

async function staged({ assets = [[]], uploads = [], answers = {}, options = {}, name = 'a.zip' }: Stage) {
  const file = await localFile(BYTES, 'a.zip');
  const github = new FakeGitHub({
    release_by_tag: RELEASE,
    list_assets: (_: unknown, nth: number) => at(assets, nth),
    delete_asset: undefined,
    ...answers,
  });
  const host = new FakeHttp((_, nth) => at(uploads, nth));
  const ports = fakePorts(host.http);
  const wishes = { github, tag: 'files-20260102', overwrite: false, ...options };
  const intent = await prepareOne(createRelease(wishes, ports), file, name);
  return { file, github, host, ports, intent };
}

describe('preparing K2', () => {
  test('plans the release and the asset, writing nothing', async () => {
    const { github, host, intent } = await staged({ name: 'отчёт.zip' });
    expect(intent.plan).toEqual({
      channel: 'K2',
      method: 'one asset upload',
      destination: 'release files-20260102, asset otchyot.zip',
      name: 'otchyot.zip',
      claim: 'downloads',
    });
    expect([github.calls, host.seen]).toEqual([[], []]);
  });

  test('refuses a private repository, whose assets nobody could read', async () => {
    const channel = createRelease({ github: new FakeGitHub() } as unknown as ReleaseOptions, fakePorts());
    const file = await localFile('x');
    const hidden = circumstancesWith({ privateRepository: true });
    await expect(prepareOne(channel, file, 'a.zip', hidden)).rejects.toMatchObject({
      code: 'NOT_EXTERNAL',
      hint: expect.stringContaining('channel: K3'),
    });
  });

  test('needs a token, and a file', async () => {
    await expect(staged({ options: { github: null } })).rejects.toMatchObject({ code: 'NO_TOKEN' });
    const channel = createRelease({ github: new FakeGitHub() } as unknown as ReleaseOptions, fakePorts());
    await expect(prepareOne(channel, null)).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });
});

describe('placing an asset', () => {
  test('uploads it and gives the host’s own address', async () => {
    const { host, intent } = await staged({ uploads: [taken()] });
    await expect(intent.place()).resolves.toEqual({
      evidence: 'HTTP 201, asset 9 (a.zip)',
      url: new URL(`${DOWNLOADS}/a.zip`),
      written: true,
      bypassCache: false,
      hostMayChangeBytes: false,
      mustBeExternal: false,
      notes: ['a release asset is downloaded, never shown on the screen'],
      unknown: [],
    });
    expect(host.seen).toMatchObject([{ body: BYTES }]);
  });

  test('says when the name was changed and when the host named no digest', async () => {
    const { intent } = await staged({
      name: 'ä.zip',
      uploads: [taken({ name: 'a.zip', digest: null })],
    });
    const { notes, unknown } = await intent.place();
    expect(notes).toContain('the asset is named a.zip; its label is ä.zip');
    expect(unknown).toEqual([expect.stringContaining('no digest')]);
  });

  test('sends nothing when the asset already holds these bytes', async () => {
    const { host, intent } = await staged({ assets: [[asset({ digest: OWN_DIGEST })]] });
    await expect(intent.place()).resolves.toMatchObject({
      evidence: expect.stringMatching(/^asset 9 .*holds these bytes$/),
    });
    expect(host.seen).toEqual([]);
  });

  test('never replaces other bytes unasked', async () => {
    const { github, host, intent } = await staged({ assets: [[asset({ digest: 'sha256:0ther' })]] });
    await expect(intent.place()).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: expect.stringMatching(/`overwrite: true`.*`path:`/),
    });
    expect([host.seen, github.sent('delete_asset')]).toEqual([[], []]);
  });

  test('clears a half-uploaded asset away, which blocks the name and holds nothing', async () => {
    const { github, intent } = await staged({
      assets: [[asset({ id: 5, state: 'starter' })]],
      uploads: [taken()],
    });
    await expect(intent.place()).resolves.toMatchObject({ evidence: 'HTTP 201, asset 9 (a.zip)' });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
  });

  test('goes on when another job has cleared the half-uploaded asset away already', async () => {
    const { intent } = await staged({
      assets: [[asset({ id: 5, state: 'starter' })]],
      uploads: [taken()],
      answers: { delete_asset: absent },
    });
    await expect(intent.place()).resolves.toMatchObject({ evidence: 'HTTP 201, asset 9 (a.zip)' });
  });

  test('removes what the host stored wrongly', async () => {
    const { github, intent } = await staged({ uploads: [taken({ digest: 'sha256:wr0ng' })] });
    await expect(intent.place()).rejects.toMatchObject({ code: 'HOST_ERROR', hint: 'run the step again' });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 9 }]);
  });
});

describe('an upload that fails', () => {
  const nameTaken = {
    status: 422,
    body: { message: 'Validation Failed', errors: [{ code: 'already_exists' }] },
  };

  test('because another job was faster takes its asset when the bytes are the same', async () => {
    const { intent } = await staged({ assets: [[], [asset({ digest: OWN_DIGEST })]], uploads: [nameTaken] });
    await expect(intent.place()).resolves.toMatchObject({
      evidence: expect.stringMatching(/^asset 9 .*holds these bytes$/),
    });
  });

  test('because another job was faster leaves its asset alone when they are not', async () => {
    const { github, intent } = await staged({
      assets: [[], [asset({ digest: 'sha256:theirs' })]],
      uploads: [nameTaken],
    });
    await expect(intent.place()).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(github.sent('delete_asset')).toEqual([]);
  });

  test('ambiguously looks first, and does not send twice what has arrived', async () => {
    const { host, intent } = await staged({
      assets: [[], [asset({ digest: OWN_DIGEST })]],
      uploads: [{ status: 502, body: '<html>' }],
    });
    await expect(intent.place()).resolves.toMatchObject({ url: new URL(`${DOWNLOADS}/a.zip`) });
    expect(host.seen).toHaveLength(1);
  });

  test('and leaves half an asset behind clears it and sends all of it again', async () => {
    const { github, host, intent } = await staged({
      assets: [[], [asset({ id: 5, state: 'starter' })]],
      uploads: [{ status: 502 }, taken()],
    });
    await intent.place();
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
    expect(host.seen.map(({ body }) => body)).toEqual([BYTES, BYTES]);
  });

  test('for good is not sent again', async () => {
    const { host, intent } = await staged({
      uploads: [{ status: 422, body: { message: 'Cannot upload assets to an immutable release.' } }],
    });
    await expect(intent.place()).rejects.toMatchObject({
      httpCode: 422,
      hint: expect.stringContaining('`tag:`'),
    });
    expect(host.seen).toHaveLength(1);
  });
});

describe('replacing an asset', () => {
  const old = asset({ id: 4, digest: 'sha256:0ld' });
  const replacing = (stage: Stage) => staged({ assets: [[old]], options: { overwrite: true }, ...stage });

  test('uploads first under another name, and swaps after', async () => {
    const { github, host, intent } = await replacing({
      uploads: [taken({ id: 8, name: INCOMING })],
      answers: { rename_asset: asset({ id: 8, digest: OWN_DIGEST }) },
    });
    await expect(intent.place()).resolves.toMatchObject({
      evidence: 'HTTP 201, asset 8 (a.zip)',
      url: new URL(`${DOWNLOADS}/a.zip`),
    });
    expect(host.seen[0]?.url).toContain(`?name=${INCOMING}&`);
    expect(github.names.slice(-3)).toEqual(['rename_asset', 'rename_asset', 'delete_asset']);
    expect(github.sent('rename_asset')).toEqual([
      { asset_id: 4, name: INCOMING.replace('incoming', 'outgoing'), label: 'a.zip' },
      { asset_id: 8, name: 'a.zip', label: 'a.zip' },
    ]);
  });

  test('loses nothing when the upload fails', async () => {
    const { github, intent } = await replacing({ uploads: [{ status: 403, body: { message: 'no' } }] });
    await expect(intent.place()).rejects.toMatchObject({ code: 'NO_PERMISSION' });
    expect(github.sent('delete_asset')).toEqual([]);
  });

  test('loses nothing when the host stored the new bytes wrongly', async () => {
    const { github, intent } = await replacing({
      uploads: [taken({ id: 8, name: INCOMING, digest: 'sha256:wr0ng' })],
      answers: { rename_asset: asset({ id: 8, digest: 'sha256:wr0ng' }) },
    });
    await expect(intent.place()).rejects.toMatchObject({ code: 'HOST_ERROR' });
    expect(github.sent('delete_asset')).not.toContainEqual({ id: 4 });
  });
});

describe('several assets', () => {
  const prepared = async (github: FakeGitHub, host: FakeHttp, names: readonly string[]) => {
    const ports = fakePorts(host.http);
    const channel = createRelease({ github, tag: 'files-20260102', overwrite: false }, ports);
    const parcels = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
    const intents = (await channel.prepare(parcels, circumstancesWith())).filter(hasSucceeded);
    return { channel, intents };
  };
  const taking = () =>
    new FakeHttp(({ url, body }) => {
      const name = new URL(url).searchParams.get('name') ?? '';
      return { status: 201, body: asset({ name, digest: digestOf(body) }) };
    });
  const names = ['a.zip', 'deep/b.zip', 'c.zip'];

  test('take one look at the release and its assets, and are sent in order', async () => {
    const github = new FakeGitHub({ release_by_tag: RELEASE, list_assets: [] });
    const host = taking();
    const { channel, intents } = await prepared(github, host, names);
    const placed = await channel.publish(intents);
    expect(placed.map((one) => hasFailed(one) || one.evidence)).toEqual([
      'HTTP 201, asset 9 (a.zip)',
      'HTTP 201, asset 9 (deep-b.zip)',
      'HTTP 201, asset 9 (c.zip)',
    ]);
    expect(github.names).toEqual(['release_by_tag', 'list_assets']);
    expect(host.seen).toHaveLength(3);
  });

  test('of which one is somebody else’s: the others are uploaded', async () => {
    const theirs = asset({ name: 'deep-b.zip', digest: 'sha256:theirs' });
    const github = new FakeGitHub({ release_by_tag: RELEASE, list_assets: [theirs] });
    const host = taking();
    const { channel, intents } = await prepared(github, host, names);
    const placed = await channel.publish(intents);
    expect(placed.map((one) => (hasFailed(one) ? one.code : one.written))).toEqual([true, 'NOT_OURS', true]);
    expect([host.seen.length, github.sent('delete_asset')]).toEqual([2, []]);
  });

  test('all fail where there can be no release', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = new FakeGitHub({ release_by_tag: absent, create_release: denied });
    const { channel, intents } = await prepared(github, taking(), names);
    await expect(channel.publish(intents)).resolves.toEqual([denied, denied, denied]);
  });

  test.each<[string, readonly Asset[] | null, boolean, string]>([
    ['no release', null, false, 'the release files-20260102 would be created'],
    ['no such asset', [], false, 'the asset a.zip would be added'],
    [
      'these bytes',
      [asset({ digest: digestOf('a.zip') })],
      false,
      'asset 9 (a.zip) already holds these bytes',
    ],
    [
      'other bytes that may go',
      [asset({ digest: 'sha256:0ther' })],
      true,
      'the asset a.zip would be replaced',
    ],
  ])('preview where there is %s', async (_, assets, overwrite, words) => {
    const github = new FakeGitHub({
      release_by_tag: assets === null ? absent : RELEASE,
      list_assets: assets,
    });
    const channel = createRelease({ github, tag: 'files-20260102', overwrite }, fakePorts());
    const intent = await prepareOne(channel, await localFile('a.zip'), 'a.zip');
    await expect(intent.preview()).resolves.toBe(words);
    expect(github.writes).toEqual([]);
  });

  test('preview the refusal of other bytes', async () => {
    const github = new FakeGitHub({
      release_by_tag: RELEASE,
      list_assets: [asset({ digest: 'sha256:0ther' })],
    });
    const { channel, intents } = await prepared(github, taking(), ['a.zip']);
    await expect(channel.preview(intents)).resolves.toMatchObject([{ code: 'NOT_OURS' }]);
  });
});
