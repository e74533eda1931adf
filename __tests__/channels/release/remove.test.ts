import { describe, expect, test } from '@jest/globals';
import type { ReleaseOptions } from '../../../src/channels/release/publish.ts';
import { createReleaseRemover } from '../../../src/channels/release/remove.ts';
import type { Asset } from '../../../src/github/api/releases.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { fakePorts } from '../../support/ports.ts';
import { assetWith, BYTES, DOWNLOADS, OWN_DIGEST, RELEASE } from '../fake-assets.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const OPTIONS: ReleaseOptions = {
  tag: 'files-20260102',
  overwrite: false,
  serverUrl: new URL('https://github.com'),
};
const OWN_RELEASE = { ...RELEASE, body: `Files for download.\n\n${TRAILER}` };
const FOREIGN_RELEASE = { ...RELEASE, body: 'Version 1.2' };

interface Setup {
  readonly assets?: readonly Asset[];
  readonly release?: object;
  readonly answers?: ConstructorParameters<typeof FakeGitHub>[0];
  readonly options?: Partial<ReleaseOptions>;
}

/** A remover for a release whose deleted assets are gone. */
function createRemover({ assets = [], release = FOREIGN_RELEASE, answers = {}, options = {} }: Setup = {}) {
  let existing = [...assets];
  const github = new FakeGitHub({
    release_by_tag: release,
    list_assets: () => existing,
    delete_asset: ({ asset_id: id }: { asset_id: number }) => {
      existing = existing.filter((asset) => asset.id !== id);
    },
    delete_release: undefined,
    delete_tag: undefined,
    ...answers,
  });
  const ports = fakePorts();
  const remover = createReleaseRemover({ ...OPTIONS, ...options }, accessWith(github), ports);
  return { github, ports, remover };
}

/** Prepares the removal of the asset a.zip. */
async function prepareRemoval(setup: Setup = {}, bytes: string | null = BYTES) {
  const { github, ports, remover } = createRemover(setup);
  const file = bytes === null ? null : await localFile(bytes, 'a.zip');
  return { github, ports, task: await prepareOne(remover, file, 'a.zip') };
}

const OWN = assetWith({ id: 4, digest: OWN_DIGEST });
const OTHER = assetWith({ id: 5, name: 'b.zip', digest: 'sha256:0ther' });

describe('removing an asset through channel K2', () => {
  test('plans the deletion without writing anything', async () => {
    const { github, remover } = createRemover();
    const task = await prepareOne(remover, null, 'deep/отчёт.zip');
    expect(task.plan).toEqual({
      channel: 'K2',
      method: 'the asset is deleted',
      destination: 'release files-20260102, asset deep-otchyot.zip',
      name: 'deep-otchyot.zip',
      claim: 'is removed',
    });
    expect(task.watch).toBeUndefined();
    expect(github.calls).toEqual([]);
  });

  test('deletes the asset whose digest is that of the file', async () => {
    const { github, task } = await prepareRemoval({ assets: [OTHER, OWN] });
    await expect(task.perform()).resolves.toEqual({
      evidence: 'asset 4 (a.zip) is deleted',
      url: new URL(`${DOWNLOADS}/a.zip`),
      written: true,
      bypassCache: false,
      hostMayChangeBytes: false,
      mustBeExternal: false,
      notes: [],
      unknown: [],
    });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 4 }]);
  });

  test.each<[string, Partial<Asset>, string | null]>([
    ['has another digest', { digest: 'sha256:0ther' }, BYTES],
    ['has no digest', { digest: null }, BYTES],
    ['has a digest but no file was given to compare', { digest: OWN_DIGEST }, null],
    ['has no digest and no file was given to compare', { digest: null }, null],
  ])('refuses to delete an asset that %s', async (_, asset, bytes) => {
    const { github, task } = await prepareRemoval({ assets: [assetWith(asset)] }, bytes);
    await expect(task.perform()).rejects.toMatchObject({
      code: 'NOT_OURS',
      message: 'nothing shows that the asset a.zip of release files-20260102 is yours',
      hint: 'set `file:` to the file with the same bytes, or `overwrite: true` to remove it all the same',
      leftBehind: [],
    });
    expect(github.sent('delete_asset')).toEqual([]);
  });

  test.each<[string, Partial<Asset>, string | null]>([
    ['has another digest', { digest: 'sha256:0ther' }, BYTES],
    ['has no digest', { digest: null }, BYTES],
    ['cannot be compared with a file', { digest: 'sha256:0ther' }, null],
  ])('deletes with overwrite an asset that %s', async (_, asset, bytes) => {
    const setup = { assets: [assetWith({ id: 4, ...asset })], options: { overwrite: true } };
    const { github, task } = await prepareRemoval(setup, bytes);
    await expect(task.perform()).resolves.toMatchObject({ written: true });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 4 }]);
  });

  test.each<[string, Setup]>([
    ['the release', { answers: { release_by_tag: absent } }],
    ['the asset', { assets: [OTHER], release: OWN_RELEASE }],
  ])('deletes nothing where %s does not exist', async (_, setup) => {
    const { github, task } = await prepareRemoval(setup);
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'nothing exists there any more',
      url: new URL(`${DOWNLOADS}/a.zip`),
      written: false,
    });
    expect([github.sent('delete_asset'), github.sent('delete_release')]).toEqual([[], []]);
  });

  test('encodes the tag and the asset name in the address where nothing exists', async () => {
    const { remover } = createRemover({
      answers: { release_by_tag: absent },
      options: { tag: 'day/1 #', serverUrl: new URL('https://git.corp.io') },
    });
    const task = await prepareOne(remover, null, 'a.zip');
    await expect(task.perform()).resolves.toMatchObject({
      url: new URL('https://git.corp.io/octo/site/releases/download/day/1%20%23/a.zip'),
    });
  });

  test('succeeds where another job has already deleted the asset', async () => {
    const { task } = await prepareRemoval({ assets: [OWN], answers: { delete_asset: absent } });
    await expect(task.perform()).resolves.toMatchObject({ evidence: 'asset 4 (a.zip) is deleted' });
  });

  test('fails where the host refuses the deletion', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const setup = { assets: [OWN], release: OWN_RELEASE, answers: { delete_asset: denied } };
    const { github, task } = await prepareRemoval(setup);
    await expect(task.perform()).rejects.toBe(denied);
    expect(github.sent('delete_release')).toEqual([]);
  });

  test('refuses to prepare a removal without a token', async () => {
    const remover = createReleaseRemover(OPTIONS, accessWith(null), fakePorts());
    await expect(prepareOne(remover, null)).rejects.toMatchObject({ code: 'NO_TOKEN' });
  });

  test.each<[string, Setup, string]>([
    ['the release does not exist', { answers: { release_by_tag: absent } }, 'nothing exists there'],
    ['the asset does not exist', { assets: [OTHER] }, 'nothing exists there'],
    ['the asset holds the file', { assets: [OWN] }, 'asset 4 (a.zip) would be deleted'],
    [
      'the asset holds other bytes and overwrite is set',
      { assets: [assetWith({ digest: 'sha256:0ther' })], options: { overwrite: true } },
      'asset 9 (a.zip) would be deleted',
    ],
  ])('has a preview that writes nothing where %s', async (_, setup, expected) => {
    const { github, task } = await prepareRemoval(setup);
    await expect(task.preview()).resolves.toBe(expected);
    expect(github.names.every((name) => name === 'release_by_tag' || name === 'list_assets')).toBe(true);
  });

  test('has a preview that fails where the asset holds other bytes', async () => {
    const { task } = await prepareRemoval({ assets: [assetWith({ digest: 'sha256:0ther' })] });
    await expect(task.preview()).rejects.toMatchObject({ code: 'NOT_OURS' });
  });
});

describe('the release after its last asset was removed through channel K2', () => {
  test('is deleted with its tag where this tool made it', async () => {
    const { github, ports, task } = await prepareRemoval({ assets: [OWN], release: OWN_RELEASE });
    await task.perform();
    expect(github.sent('delete_release')).toEqual([{ release_id: 3 }]);
    expect(github.sent('delete_tag')).toEqual([{ ref: 'tags/files-20260102' }]);
    expect(ports.logger.lines).toEqual([]);
  });

  test('is kept where another asset exists', async () => {
    const { github, task } = await prepareRemoval({ assets: [OWN, OTHER], release: OWN_RELEASE });
    await task.perform();
    expect([github.sent('delete_release'), github.sent('delete_tag')]).toEqual([[], []]);
  });

  test('is kept where another job adds an asset right before', async () => {
    const { github, task } = await prepareRemoval({
      assets: [OWN],
      release: OWN_RELEASE,
      answers: { list_assets: (_: unknown, nth: number) => (nth === 1 ? [OWN] : [OTHER]) },
    });
    await task.perform();
    expect([github.sent('delete_release'), github.sent('delete_tag')]).toEqual([[], []]);
  });

  test.each([
    ['somebody else made it', FOREIGN_RELEASE],
    ['it has no description', RELEASE],
    ['its description is empty', { ...RELEASE, body: null }],
  ])('is kept where %s', async (_, release) => {
    const { github, task } = await prepareRemoval({ assets: [OWN], release });
    await expect(task.perform()).resolves.toMatchObject({ written: true });
    expect([github.sent('delete_release'), github.sent('delete_tag')]).toEqual([[], []]);
  });

  test('is kept where it was already empty and nothing was removed', async () => {
    const { github, task } = await prepareRemoval({ assets: [], release: OWN_RELEASE });
    await task.perform();
    expect(github.sent('delete_release')).toEqual([]);
  });

  test.each(['delete_release', 'delete_tag'] as const)(
    'is only a warning in the log where %s fails',
    async (call) => {
      const denied = failure('NO_PERMISSION', 403);
      const setup = { assets: [OWN], release: OWN_RELEASE, answers: { [call]: denied } };
      const { ports, task } = await prepareRemoval(setup);
      await expect(task.perform()).resolves.toMatchObject({ written: true });
      expect(ports.logger.lines).toEqual([
        `warning: could not delete the empty release files-20260102: ${denied.message}`,
      ]);
    },
  );
});

describe('removing several assets through channel K2', () => {
  const prepareThree = async (setup: Setup) => {
    const { github, remover } = createRemover(setup);
    const file = await localFile(BYTES, 'a.zip');
    const names = ['a.zip', 'b.zip', 'c.zip'];
    const tasks = await prepareAll(
      remover,
      names.map((name) => ({ file, name })),
    );
    return { github, remover, tasks };
  };
  const assetsWith = (...digests: string[]): Asset[] =>
    digests.map((digest, at) => assetWith({ id: at + 1, name: `${'abc'[at]}.zip`, digest }));

  test('deletes the owned ones, refuses the foreign one and keeps the release', async () => {
    const { github, remover, tasks } = await prepareThree({
      assets: assetsWith(OWN_DIGEST, 'sha256:0ther', OWN_DIGEST),
      release: OWN_RELEASE,
    });
    expect(resultsFor(await remover.perform(tasks), tasks)).toMatchObject([
      { evidence: 'asset 1 (a.zip) is deleted' },
      { code: 'NOT_OURS', leftBehind: [] },
      { evidence: 'asset 3 (c.zip) is deleted' },
    ]);
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 1 }, { asset_id: 3 }]);
    expect(github.sent('delete_release')).toEqual([]);
  });

  test('deletes the release once after the last one', async () => {
    const assets = assetsWith(OWN_DIGEST, OWN_DIGEST, OWN_DIGEST);
    const { github, remover, tasks } = await prepareThree({ assets, release: OWN_RELEASE });
    await remover.perform(tasks);
    expect(github.names).toEqual([
      'release_by_tag',
      'list_assets',
      'delete_asset',
      'delete_asset',
      'delete_asset',
      'list_assets',
      'delete_release',
      'delete_tag',
    ]);
  });

  test('gives a preview of each after one request for the release and one for its assets', async () => {
    const { github, remover, tasks } = await prepareThree({ assets: assetsWith(OWN_DIGEST, 'sha256:0ther') });
    expect(resultsFor(await remover.preview(tasks), tasks)).toMatchObject([
      'asset 1 (a.zip) would be deleted',
      { code: 'NOT_OURS' },
      'nothing exists there',
    ]);
    expect(github.names).toEqual(['release_by_tag', 'list_assets']);
  });
});
