import { describe, expect, test } from '@jest/globals';
import { createReleaseRemover, type RemovalOptions } from '../../../src/channels/release/remove.ts';
import { type Asset, formatLabel, RELEASE_BODY } from '../../../src/github/api/releases.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import { absent, FakeGitHub } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { assetWith, BYTES, DOWNLOADS, OWN_DIGEST, RELEASE } from '../fake-assets.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const OPTIONS: RemovalOptions = {
  tag: 'files-20260102',
  tagIsDefault: false,
  earlierTag: 'files-20260101',
  overwrite: false,
  serverUrl: new URL('https://github.com'),
};
const OWN_RELEASE = { ...RELEASE, body: RELEASE_BODY };
const FOREIGN_RELEASE = { ...RELEASE, body: 'Version 1.2' };

interface Setup {
  readonly assets?: readonly Asset[];
  readonly release?: object;
  readonly answers?: ConstructorParameters<typeof FakeGitHub>[0];
  readonly options?: Partial<RemovalOptions>;
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
    ...answers,
  });
  const remover = createReleaseRemover({ ...OPTIONS, ...options }, accessWith(github));
  return { github, remover };
}

/** Prepares the removal of the asset a.zip. */
async function prepareRemoval(setup: Setup = {}, bytes: string | null = BYTES) {
  const { github, remover } = createRemover(setup);
  const file = bytes === null ? null : await localFile(bytes, 'a.zip');
  return { github, task: await prepareOne(remover, file, 'a.zip') };
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
    expect(github.calls).toEqual([]);
  });

  test.each<[string, Setup]>([
    ['the release', { answers: { release_by_tag: absent } }],
    ['the asset', { assets: [OTHER], release: OWN_RELEASE }],
  ])('deletes nothing where %s does not exist', async (_, setup) => {
    const { github, task } = await prepareRemoval(setup);
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'nothing exists there',
      url: new URL(`${DOWNLOADS}/a.zip`),
      written: false,
    });
    expect([github.sent('delete_asset')]).toEqual([[]]);
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

  test('refuses to prepare a removal without a token', async () => {
    const remover = createReleaseRemover(OPTIONS, accessWith(null));
    await expect(prepareOne(remover, null)).rejects.toMatchObject({ code: 'NO_TOKEN' });
  });

  test.each<[string, Setup, string]>([
    ['the release does not exist', { answers: { release_by_tag: absent } }, 'nothing exists there'],
    ['the asset does not exist', { assets: [OTHER] }, 'nothing exists there'],
    [
      'the asset holds the file',
      { assets: [OWN] },
      'asset 4 (a.zip) of the release files-20260102 would be deleted',
    ],
    [
      'the asset holds other bytes and overwrite is set',
      { assets: [assetWith({ digest: 'sha256:0ther' })], options: { overwrite: true } },
      'asset 9 (a.zip) of the release files-20260102 would be deleted',
    ],
  ])('has a preview that writes nothing where %s', async (_, setup, expected) => {
    const { github, task } = await prepareRemoval(setup);
    await expect(task.preview()).resolves.toBe(expected);
    expect(github.names.every((name) => name === 'release_by_tag' || name === 'list_assets')).toBe(true);
  });
});

describe('who owns an asset that channel K2 removes', () => {
  const LABEL = formatLabel('a.zip');

  const theirs = { digest: 'sha256:0ther' };
  const noted = { ...RELEASE, body: `${RELEASE_BODY}\nNotes by hand.` };
  const quoted = { ...RELEASE, body: `Version 1.2\n\n${TRAILER}` };

  test.each<[string, Partial<Asset>, object, string | null, boolean]>([
    ['the same bytes as the file', { digest: OWN_DIGEST }, FOREIGN_RELEASE, BYTES, true],
    ['other bytes than the file', theirs, FOREIGN_RELEASE, BYTES, false],
    ['no digest, beside a file', { digest: null }, FOREIGN_RELEASE, BYTES, false],
    ['a digest, without a file', { digest: OWN_DIGEST }, FOREIGN_RELEASE, null, false],
    ['no digest, without a file', { digest: null }, FOREIGN_RELEASE, null, false],
    ['our label in a release with exactly our text', { ...theirs, label: LABEL }, OWN_RELEASE, null, true],
    ['another label in such a release', { ...theirs, label: 'a.zip' }, OWN_RELEASE, null, false],
    ['no label in such a release', { ...theirs, label: null }, OWN_RELEASE, null, false],
    ['our label in a release of somebody else', { ...theirs, label: LABEL }, FOREIGN_RELEASE, null, false],
    ['our label in a release with more than our text', { ...theirs, label: LABEL }, noted, null, false],
    ['our label in a release with its last line alone', { ...theirs, label: LABEL }, quoted, null, false],
  ])(
    '%s: an owned one is deleted, any other with overwrite alone',
    async (_, asset, release, bytes, owned) => {
      for (const overwrite of [false, true]) {
        const assets = [assetWith({ id: 4, ...asset })];
        const { github, task } = await prepareRemoval({ assets, release, options: { overwrite } }, bytes);
        const isDeleted = owned || overwrite;
        if (isDeleted) await expect(task.perform()).resolves.toMatchObject({ written: true });
        else {
          await expect(task.perform()).rejects.toMatchObject({
            code: 'NOT_OURS',
            message: 'nothing shows that the asset a.zip of release files-20260102 is yours',
            hint: 'give the file with the same bytes as `file:`, or set `overwrite: true`',
            leftBehind: [],
          });
        }
        expect(github.sent('delete_asset')).toEqual(isDeleted ? [{ asset_id: 4 }] : []);
      }
    },
  );

  test.each([false, true])('an unfinished upload is never deleted, with overwrite: %s', async (overwrite) => {
    const { github, task } = await prepareRemoval({
      assets: [assetWith({ state: 'starter', label: LABEL })],
      release: OWN_RELEASE,
      options: { overwrite },
    });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'CONFLICT',
      hint: expect.stringMatching(/delete this unfinished asset on the page of the release$/),
      leftBehind: [],
    });
    expect(github.writes).toEqual([]);
  });

  const interim = assetWith({ id: 6, name: 'incoming-0123456789ab-a.zip', label: LABEL });
  test.each<[string, readonly Asset[], readonly number[]]>([
    ['beside the asset', [interim, OWN], [6, 4]],
    ['in place of the asset', [interim], [6]],
    ['with the label of somebody else, which is kept', [{ ...interim, label: 'theirs' }, OWN], [4]],
    ['for another name, which is kept', [{ ...interim, name: 'incoming-0123456789ab-b.zip' }, OWN], [4]],
  ])('what a killed replacement left is deleted too: %s', async (_, assets, deleted) => {
    const { github, task } = await prepareRemoval({ assets, release: OWN_RELEASE });
    await expect(task.perform()).resolves.toMatchObject({ written: true });
    expect(github.sent('delete_asset')).toEqual(deleted.map((asset_id) => ({ asset_id })));
  });

  test('an asset of an immutable release is refused before a request that must fail', async () => {
    const release = { ...OWN_RELEASE, immutable: true };
    const { github, task } = await prepareRemoval({ assets: [OWN], release });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'FORBIDDEN_BY_RULE',
      message: "the release files-20260102 is immutable: its asset a.zip can't be deleted",
    });
    expect(github.writes).toEqual([]);
  });
});

describe('removing an asset through channel K2 without a tag', () => {
  const TODAY = 'files-20260102';
  const YESTERDAY = 'files-20260101';
  const ours = { label: formatLabel('a.zip'), digest: 'sha256:0ther' };
  const same = { label: 'a.zip', digest: OWN_DIGEST };
  const theirs = { label: 'a.zip', digest: 'sha256:0ther' };

  /** A remover of a.zip, with the file or without it, for these releases of today and yesterday. */
  async function prepareSearch(listed: readonly (Partial<Asset> | null)[], hasFile = true) {
    const tags = [TODAY, YESTERDAY];
    const github = new FakeGitHub({
      release_by_tag: ({ tag }: { tag: string }) =>
        tags.includes(tag) ? { ...OWN_RELEASE, id: tags.indexOf(tag), tag_name: tag } : absent,
      list_assets: ({ release_id: id }: { release_id: number }) => {
        const asset = listed[id];
        return asset ? [assetWith({ id: 50 + id, ...asset })] : [];
      },
      delete_asset: undefined,
    });
    const remover = createReleaseRemover({ ...OPTIONS, tagIsDefault: true }, accessWith(github));
    const file = hasFile ? await localFile(BYTES, 'a.zip') : null;
    return { github, task: await prepareOne(remover, file, 'a.zip') };
  }

  test.each<[string, readonly (Partial<Asset> | null)[], boolean, string, readonly string[]]>([
    ['today, because only that release has it', [ours, null], false, TODAY, []],
    ['yesterday, because only that release has it', [null, ours], false, YESTERDAY, []],
    ['today, because that one is newer', [ours, ours], false, TODAY, [YESTERDAY]],
    ['yesterday, because that one has the bytes', [ours, same], true, YESTERDAY, [TODAY]],
    ['yesterday, because the other one is somebody else’s', [theirs, ours], false, YESTERDAY, [TODAY]],
  ])('looks at two releases and deletes that of %s', async (_, assets, hasFile, tag, others) => {
    const { github, task } = await prepareSearch(assets, hasFile);
    expect(task.plan.destination).toBe(`release ${TODAY} or ${YESTERDAY}, asset a.zip`);
    await expect(task.perform()).resolves.toMatchObject({
      written: true,
      destination: `release ${tag}, asset a.zip`,
      notes: others.map(
        (other) => `an asset a.zip is also in the release ${other}: name that tag to withdraw it`,
      ),
    });
    expect(github.sent('delete_asset')).toEqual([{ asset_id: tag === TODAY ? 50 : 51 }]);
  });

  test('does not say that nothing exists where neither release has it', async () => {
    const { task } = await prepareSearch([null, null]);
    for (const refused of [task.perform(), task.preview()]) {
      await expect(refused).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('others were not searched'),
        hint: expect.stringContaining('`tag:`'),
        leftBehind: [],
      });
    }
  });
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

  test('deletes the owned ones, refuses the foreign one', async () => {
    const { github, remover, tasks } = await prepareThree({
      assets: assetsWith(OWN_DIGEST, 'sha256:0ther', OWN_DIGEST),
      release: OWN_RELEASE,
    });
    expect(resultsFor(await remover.perform(tasks), tasks)).toMatchObject([
      { evidence: 'asset 1 (a.zip) is deleted' },
      { code: 'NOT_OURS', leftBehind: [] },
      { evidence: 'asset 3 (c.zip) is deleted' },
    ]);
    expect(github.names).toEqual(['release_by_tag', 'list_assets', 'delete_asset', 'delete_asset']);
    expect(github.sent('delete_asset')).toEqual([{ asset_id: 1 }, { asset_id: 3 }]);
  });
});
