import { describe, expect, test } from '@jest/globals';
import { createReleasePublisher, type ReleaseOptions } from '../../../src/channels/release/publish.ts';
import { hasFailed } from '../../../src/errors.ts';
import type { Asset } from '../../../src/github/api/releases.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import {
  assetWith,
  BYTES,
  DOWNLOADS,
  digestFor,
  INCOMING,
  OWN_DIGEST,
  RELEASE,
  uploadedAnswer,
} from '../fake-assets.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const OPTIONS: ReleaseOptions = {
  tag: 'files-20260102',
  tagIsDefault: false,
  overwrite: false,
  serverUrl: new URL('https://github.com'),
  interval: 5_000,
  timeout: 240_000,
};

interface Setup {
  /** The assets of the release at each request; the last ones from then on. */
  readonly assets?: readonly (readonly Asset[])[];
  /** The answer to each upload; the last one from then on. */
  readonly uploads?: readonly (Scripted | Error)[];
  readonly answers?: ConstructorParameters<typeof FakeGitHub>[0];
  readonly options?: Partial<ReleaseOptions>;
  readonly name?: string;
}

const pickNth = <T>(list: readonly T[], nth: number): T | undefined => list[Math.min(nth, list.length) - 1];

/** Prepares one upload to a release that answers as scripted. */
async function prepareUpload({
  assets = [[]],
  uploads = [],
  answers = {},
  options = {},
  name = 'a.zip',
}: Setup) {
  const file = await localFile(BYTES, 'a.zip');
  const github = new FakeGitHub({
    get_ref: absent,
    release_by_tag: RELEASE,
    list_assets: (_: unknown, nth: number) => pickNth(assets, nth),
    delete_asset: undefined,
    ...answers,
  });
  const host = new FakeHttp((_, nth) => pickNth(uploads, nth));
  const ports = fakePorts(host.http);
  const action = createReleasePublisher({ ...OPTIONS, ...options }, accessWith(github), ports);
  const task = await prepareOne(action, file, name);
  return { file, github, host, ports, task };
}

describe('preparing an upload to channel K2', () => {
  test('plans the release and the asset without writing anything', async () => {
    const { github, host, task } = await prepareUpload({ name: 'отчёт.zip' });
    expect(task.plan).toEqual({
      channel: 'K2',
      method: 'one asset upload',
      destination: 'release files-20260102, asset otchyot.zip',
      name: 'otchyot.zip',
      claim: 'downloads',
    });
    expect([github.calls, host.seen]).toEqual([[], []]);
  });

  test('refuses a private repository, whose assets cannot be read anonymously', async () => {
    const access = accessWith(new FakeGitHub(), { privateRepository: true });
    const action = createReleasePublisher(OPTIONS, access, fakePorts());
    await expect(prepareOne(action, await localFile('x'), 'a.zip')).rejects.toMatchObject({
      code: 'NOT_EXTERNAL',
      hint: expect.stringContaining('channel: K3'),
    });
  });

  test('refuses to prepare an upload without a token', async () => {
    const action = createReleasePublisher(OPTIONS, accessWith(null), fakePorts());
    await expect(prepareOne(action, await localFile('x'))).rejects.toMatchObject({ code: 'NO_TOKEN' });
  });

  test('refuses to prepare an upload without a file', async () => {
    const action = createReleasePublisher(OPTIONS, accessWith(new FakeGitHub()), fakePorts());
    await expect(prepareOne(action, null)).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });
});

describe('uploading an asset through channel K2', () => {
  test('uploads the file and returns the address that the host answers', async () => {
    const { host, task } = await prepareUpload({ uploads: [uploadedAnswer()] });
    await expect(task.perform()).resolves.toEqual({
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

  test('notes a changed name, and lists a missing digest as unknown', async () => {
    const { task } = await prepareUpload({
      name: 'ä.zip',
      uploads: [uploadedAnswer({ name: 'a.zip', digest: null })],
    });
    const { notes, unknown } = await task.perform();
    expect(notes).toContain('the asset is named a.zip; its label is ä.zip (screen-delivery)');
    expect(unknown).toEqual([expect.stringContaining('no digest')]);
  });

  test('uploads nothing where the asset already holds these bytes', async () => {
    const { host, task } = await prepareUpload({ assets: [[assetWith({ digest: OWN_DIGEST })]] });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: expect.stringMatching(/^asset 9 .*holds these bytes$/),
    });
    expect(host.seen).toEqual([]);
  });

  test('replaces no asset with other bytes without overwrite', async () => {
    const { github, host, task } = await prepareUpload({ assets: [[assetWith({ digest: 'sha256:0ther' })]] });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: expect.stringMatching(/`overwrite: true`.*`path:`/),
    });
    expect([host.seen, github.sent('delete_asset')]).toEqual([[], []]);
  });

  test('deletes a half-uploaded asset, which blocks the name and holds nothing', async () => {
    const { github, task } = await prepareUpload({
      assets: [[assetWith({ id: 5, state: 'starter' })]],
      uploads: [uploadedAnswer()],
    });
    await expect(task.perform()).resolves.toMatchObject({ evidence: 'HTTP 201, asset 9 (a.zip)' });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
  });

  test('continues where another job has already deleted the half-uploaded asset', async () => {
    const { task } = await prepareUpload({
      assets: [[assetWith({ id: 5, state: 'starter' })]],
      uploads: [uploadedAnswer()],
      answers: { delete_asset: absent },
    });
    await expect(task.perform()).resolves.toMatchObject({ evidence: 'HTTP 201, asset 9 (a.zip)' });
  });

  test('deletes the asset where the host stored other bytes', async () => {
    const { github, task } = await prepareUpload({ uploads: [uploadedAnswer({ digest: 'sha256:wr0ng' })] });
    await expect(task.perform()).rejects.toMatchObject({ code: 'HOST_ERROR', hint: 'run the step again' });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 9 }]);
  });
});

describe('an upload to channel K2 that fails', () => {
  const nameTaken = {
    status: 422,
    body: { message: 'Validation Failed', errors: [{ code: 'already_exists' }] },
  };

  test('uses the asset of a faster job where it holds the same bytes', async () => {
    const { task } = await prepareUpload({
      assets: [[], [assetWith({ digest: OWN_DIGEST })]],
      uploads: [nameTaken],
    });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: expect.stringMatching(/^asset 9 .*holds these bytes$/),
    });
  });

  test('keeps the asset of a faster job where it holds other bytes', async () => {
    const { github, task } = await prepareUpload({
      assets: [[], [assetWith({ digest: 'sha256:foreign' })]],
      uploads: [nameTaken],
    });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(github.sent('delete_asset')).toEqual([]);
  });

  test('lists the assets before another attempt, and does not send again what has arrived', async () => {
    const { host, task } = await prepareUpload({
      assets: [[], [assetWith({ digest: OWN_DIGEST })]],
      uploads: [{ status: 502, body: '<html>' }],
    });
    await expect(task.perform()).resolves.toMatchObject({ url: new URL(`${DOWNLOADS}/a.zip`) });
    expect(host.seen).toHaveLength(1);
  });

  test('deletes a half-uploaded asset and sends the whole file again', async () => {
    const { github, host, task } = await prepareUpload({
      assets: [[], [assetWith({ id: 5, state: 'starter' })]],
      uploads: [{ status: 502 }, uploadedAnswer()],
    });
    await task.perform();
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
    expect(host.seen.map(({ body }) => body)).toEqual([BYTES, BYTES]);
  });

  test('is not sent again where the host refuses it for good', async () => {
    const { host, task } = await prepareUpload({
      uploads: [{ status: 422, body: { message: 'Cannot upload assets to an immutable release.' } }],
    });
    await expect(task.perform()).rejects.toMatchObject({
      httpCode: 422,
      hint: expect.stringContaining('`tag:`'),
    });
    expect(host.seen).toHaveLength(1);
  });
});

describe('replacing an asset through channel K2', () => {
  const old = assetWith({ id: 4, digest: 'sha256:0ld' });
  const prepareReplacement = (setup: Setup) =>
    prepareUpload({ assets: [[old]], options: { overwrite: true }, ...setup });

  test('uploads under another name first, and exchanges the names after', async () => {
    const { github, host, task } = await prepareReplacement({
      uploads: [uploadedAnswer({ id: 8, name: INCOMING })],
      answers: { rename_asset: assetWith({ id: 8, digest: OWN_DIGEST }) },
    });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'HTTP 201, asset 8 (a.zip)',
      url: new URL(`${DOWNLOADS}/a.zip`),
    });
    expect(host.seen[0]?.url).toContain(`?name=${INCOMING}&`);
    expect(github.names.slice(-3)).toEqual(['rename_asset', 'rename_asset', 'delete_asset']);
    expect(github.sent('rename_asset')).toEqual([
      { asset_id: 4, name: INCOMING.replace('incoming', 'outgoing'), label: 'a.zip (screen-delivery)' },
      { asset_id: 8, name: 'a.zip', label: 'a.zip (screen-delivery)' },
    ]);
  });

  test('keeps the old asset where the upload fails', async () => {
    const { github, task } = await prepareReplacement({
      uploads: [{ status: 403, body: { message: 'no' } }],
    });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NO_PERMISSION' });
    expect(github.sent('delete_asset')).toEqual([]);
  });

  test('keeps the old asset where the host stored other bytes than the new file’s', async () => {
    const { github, task } = await prepareReplacement({
      uploads: [uploadedAnswer({ id: 8, name: INCOMING, digest: 'sha256:wr0ng' })],
      answers: { rename_asset: assetWith({ id: 8, digest: 'sha256:wr0ng' }) },
    });
    await expect(task.perform()).rejects.toMatchObject({ code: 'HOST_ERROR' });
    expect(github.sent('delete_asset')).not.toContainEqual({ id: 4 });
  });
});

describe('several files through channel K2', () => {
  const prepareUploads = async (github: FakeGitHub, host: FakeHttp, names: readonly string[]) => {
    const action = createReleasePublisher(OPTIONS, accessWith(github), fakePorts(host.http));
    const items = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
    return { action, tasks: await prepareAll(action, items) };
  };
  const acceptingHost = () =>
    new FakeHttp(({ url, body }) => {
      const name = new URL(url).searchParams.get('name') ?? '';
      return { status: 201, body: assetWith({ name, digest: digestFor(body) }) };
    });
  const names = ['a.zip', 'deep/b.zip', 'c.zip'];

  test('are uploaded in order after one request for the release and one for its assets', async () => {
    const github = new FakeGitHub({ get_ref: absent, release_by_tag: RELEASE, list_assets: [] });
    const host = acceptingHost();
    const { action, tasks } = await prepareUploads(github, host, names);
    const placements = resultsFor(await action.perform(tasks), tasks);
    expect(placements.map((one) => hasFailed(one) || one.evidence)).toEqual([
      'HTTP 201, asset 9 (a.zip)',
      'HTTP 201, asset 9 (deep-b.zip)',
      'HTTP 201, asset 9 (c.zip)',
    ]);
    expect(github.names).toEqual(['release_by_tag', 'list_assets']);
    expect(host.seen).toHaveLength(3);
  });

  test('are uploaded except the one whose name is taken by a foreign asset', async () => {
    const foreign = assetWith({ name: 'deep-b.zip', digest: 'sha256:foreign' });
    const github = new FakeGitHub({ get_ref: absent, release_by_tag: RELEASE, list_assets: [foreign] });
    const host = acceptingHost();
    const { action, tasks } = await prepareUploads(github, host, names);
    const placements = resultsFor(await action.perform(tasks), tasks);
    expect(placements.map((one) => (hasFailed(one) ? one.code : one.written))).toEqual([
      true,
      'NOT_OURS',
      true,
    ]);
    expect([host.seen.length, github.sent('delete_asset')]).toEqual([2, []]);
  });

  test('fail together where the release cannot be created', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = new FakeGitHub({ get_ref: absent, release_by_tag: absent, create_release: denied });
    const { action, tasks } = await prepareUploads(github, acceptingHost(), names);
    await expect(action.perform(tasks)).rejects.toBe(denied);
  });

  test.each<[string, readonly Asset[] | null, boolean, string]>([
    ['there is no release', null, false, 'the release files-20260102 would be created'],
    ['there is no such asset', [], false, 'the asset a.zip would be added'],
    [
      'the asset holds these bytes',
      [assetWith({ digest: digestFor('a.zip') })],
      false,
      'asset 9 (a.zip) already holds these bytes',
    ],
    [
      'the asset holds other bytes and overwrite is set',
      [assetWith({ digest: 'sha256:0ther' })],
      true,
      'the asset a.zip would be replaced',
    ],
  ])('have a preview that writes nothing where %s', async (_, assets, overwrite, words) => {
    const github = new FakeGitHub({
      get_ref: absent,
      release_by_tag: assets === null ? absent : RELEASE,
      list_assets: assets,
    });
    const action = createReleasePublisher({ ...OPTIONS, overwrite }, accessWith(github), fakePorts());
    const task = await prepareOne(action, await localFile('a.zip'), 'a.zip');
    await expect(task.preview()).resolves.toBe(words);
    expect(github.writes).toEqual([]);
  });

  test('have a preview that fails where the asset holds other bytes', async () => {
    const github = new FakeGitHub({
      get_ref: absent,
      release_by_tag: RELEASE,
      list_assets: [assetWith({ digest: 'sha256:0ther' })],
    });
    const { action, tasks } = await prepareUploads(github, acceptingHost(), ['a.zip']);
    expect(resultsFor(await action.preview(tasks), tasks)).toMatchObject([{ code: 'NOT_OURS' }]);
  });
});

describe('what an upload to channel K2 leaves behind when it fails', () => {
  const created = (answers: Setup['answers'] = {}): Setup['answers'] => ({
    release_by_tag: absent,
    create_release: RELEASE,
    ...answers,
  });
  const NEW_RELEASE = ['the release files-20260102, which was created and is empty'];

  test('is nothing where an existing asset is not replaced', async () => {
    const { task } = await prepareUpload({ assets: [[assetWith({ digest: 'sha256:0ther' })]] });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NOT_OURS', leftBehind: [] });
  });

  test('is nothing where the assets of an existing release cannot be listed', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const { task } = await prepareUpload({ answers: { list_assets: denied } });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NO_PERMISSION', leftBehind: [] });
  });

  test('is unknown where the upload to an existing release broke off', async () => {
    const connectionLost = failure('CONNECTION', undefined, { retryable: true });
    const { task } = await prepareUpload({ uploads: [connectionLost] });
    await expect(task.perform()).rejects.toMatchObject({ code: 'CONNECTION', leftBehind: undefined });
  });

  test('is the new and empty release where its assets cannot be listed', async () => {
    const answers = created({ list_assets: failure('NO_PERMISSION', 403) });
    const { host, task } = await prepareUpload({ answers });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NO_PERMISSION', leftBehind: NEW_RELEASE });
    expect(host.seen).toEqual([]);
  });

  test('is the new and empty release where the host refuses the upload', async () => {
    const uploads = [{ status: 403, body: { message: 'no' } }];
    const { task } = await prepareUpload({ answers: created(), uploads });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NO_PERMISSION', leftBehind: NEW_RELEASE });
  });

  test('is the new and empty release where the host refuses every upload of several files', async () => {
    const github = new FakeGitHub({ ...created(), list_assets: [] });
    const host = new FakeHttp(() => ({ status: 403, body: { message: 'no' } }));
    const items = await Promise.all(
      ['a.zip', 'b.zip'].map(async (name) => ({ file: await localFile(name), name })),
    );
    const action = createReleasePublisher(OPTIONS, accessWith(github), fakePorts(host.http));
    const tasks = await prepareAll(action, items);
    expect(resultsFor(await action.perform(tasks), tasks)).toMatchObject([
      { code: 'NO_PERMISSION', leftBehind: NEW_RELEASE },
      { code: 'NO_PERMISSION', leftBehind: NEW_RELEASE },
    ]);
  });

  test('is not the new release where another file was uploaded to it', async () => {
    const github = new FakeGitHub({ ...created(), list_assets: [] });
    const host = new FakeHttp(({ url, body }, nth) => {
      if (nth === 1) return { status: 403, body: { message: 'no' } };
      const name = new URL(url).searchParams.get('name') ?? '';
      return { status: 201, body: assetWith({ name, digest: digestFor(body) }) };
    });
    const items = await Promise.all(
      ['a.zip', 'b.zip'].map(async (name) => ({ file: await localFile(name), name })),
    );
    const action = createReleasePublisher(OPTIONS, accessWith(github), fakePorts(host.http));
    const tasks = await prepareAll(action, items);
    const [refused, uploaded] = resultsFor(await action.perform(tasks), tasks);
    expect(refused).toMatchObject({ code: 'NO_PERMISSION' });
    expect(refused).not.toMatchObject({ leftBehind: NEW_RELEASE });
    expect(uploaded).toMatchObject({ written: true });
  });
});
