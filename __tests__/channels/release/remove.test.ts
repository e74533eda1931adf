import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createReleaseRemover, type RemovalOptions } from '../../../src/channels/release/remove.ts';
import { type Asset, formatLabel, RELEASE_BODY } from '../../../src/github/api/releases.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import { absent, FakeGitHub } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeClock } from '../../support/ports.ts';
import { prepareAll, prepareOne } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const TODAY = 'files-20260102';
const YESTERDAY = 'files-20260101';
const DOWNLOADS = `https://github.com/octo/site/releases/download/${TODAY}`;
const BYTES = 'bytes of the file';
const OWN_DIGEST = `sha256:${createHash('sha256').update(BYTES).digest('hex')}`;
/** Seven hours before a fake clock starts, by the host's clock. */
const QUIET = '2026-01-01T20:04:05Z';

const assetWith = (more: Partial<Asset> = {}): Asset => ({
  id: 9,
  name: 'a.zip',
  label: null,
  state: 'uploaded',
  size: BYTES.length,
  digest: null,
  browser_download_url: `${DOWNLOADS}/${more.name ?? 'a.zip'}`,
  updated_at: '2026-01-02T03:04:05Z',
  ...more,
});

const OWN_RELEASE = { body: RELEASE_BODY };
const FOREIGN_RELEASE = { body: 'Version 1.2' };
const LABEL = formatLabel('a.zip');
const OWN = assetWith({ id: 4, digest: OWN_DIGEST });
const OTHER = assetWith({ id: 5, name: 'b.zip', digest: 'sha256:0ther' });

interface Setup {
  /** By tag; a release without any does not exist. */
  readonly assets?: Readonly<Record<string, readonly Asset[]>> | readonly Asset[];
  readonly release?: object;
  readonly options?: Partial<RemovalOptions>;
  readonly name?: string;
}

function createRemover({ assets = {}, release = FOREIGN_RELEASE, options }: Setup) {
  const listed = Array.isArray(assets) ? { [TODAY]: assets } : assets;
  const tags = Object.keys(listed);
  const github = new FakeGitHub({
    release_by_tag: ({ tag }: { tag: string }) =>
      tags.includes(tag) ? { ...release, id: tags.indexOf(tag), tag_name: tag } : absent,
    list_assets: ({ release_id: id }: { release_id: number }) => Object.values(listed)[id],
    delete_asset: undefined,
  });
  const remover = createReleaseRemover(
    { ...{ tag: TODAY, tagIsDefault: false, earlierTag: YESTERDAY, overwrite: false }, ...options },
    accessWith(github),
    { clock: new FakeClock() },
  );
  return { github, remover };
}

async function prepareRemoval(setup: Setup, bytes: string | null = BYTES) {
  const { github, remover } = createRemover(setup);
  const file = bytes === null ? null : await localFile(bytes, 'a.zip');
  return { github, task: await prepareOne(remover, file, setup.name ?? 'a.zip') };
}

/** What the preview says is done, and nothing else. */
async function expectDeleted({ github, task }: Awaited<ReturnType<typeof prepareRemoval>>, ids: number[]) {
  await expect(task.preview()).resolves.toMatch(new RegExp(`^asset ${ids.at(-1)} .* would be deleted$`));
  expect(github.writes).toEqual([]);
  const placement = await task.perform();
  expect(placement.written).toBe(true);
  expect(github.sent('delete_asset')).toEqual(ids.map((asset_id) => ({ asset_id })));
  return placement;
}

async function expectRefused({ github, task }: Awaited<ReturnType<typeof prepareRemoval>>, refusal: object) {
  for (const refused of [task.preview(), task.perform()]) {
    await expect(refused).rejects.toMatchObject(refusal);
  }
  expect(github.writes).toEqual([]);
}

test('an asset is planned to be deleted under the name that it has on the host', async () => {
  const { github, task } = await prepareRemoval({ name: 'deep/отчёт.zip' });
  expect(task.plan.destination).toBe(`release ${TODAY}, asset deep-otchyot.zip`);
  expect(github.calls).toEqual([]);
});

test.each<[string, Setup, string]>([
  ['the release', {}, `${DOWNLOADS}/a.zip`],
  ['the asset', { assets: [OTHER], release: OWN_RELEASE }, `${DOWNLOADS}/a.zip`],
  ['either', { options: { tag: 'day/1 #' } }, `${DOWNLOADS.replace(TODAY, 'day/1%20%23')}/a.zip`],
])('nothing is deleted where %s does not exist', async (_, setup, address) => {
  const { github, task } = await prepareRemoval(setup);
  await expect(task.preview()).resolves.toBe('nothing exists there');
  const evidence = 'nothing exists there';
  await expect(task.perform()).resolves.toMatchObject({ evidence, url: new URL(address), written: false });
  expect(github.writes).toEqual([]);
});

describe('who owns an asset that channel K2 removes', () => {
  const theirs = { digest: 'sha256:0ther' };
  const ours = { ...theirs, label: LABEL };
  const noted = { body: `${RELEASE_BODY}\nNotes by hand.` };
  const quoted = { body: `Version 1.2\n\n${TRAILER}` };
  const saved = { body: RELEASE_BODY.replaceAll('\n', '\r\n') };

  test.each<[string, Partial<Asset>, object, string | null, boolean]>([
    ['the same bytes as the file', { digest: OWN_DIGEST }, FOREIGN_RELEASE, BYTES, true],
    ['other bytes than the file', theirs, FOREIGN_RELEASE, BYTES, false],
    ['no digest, beside a file', { digest: null }, FOREIGN_RELEASE, BYTES, false],
    ['a digest, without a file', { digest: OWN_DIGEST }, FOREIGN_RELEASE, null, false],
    ['no digest, without a file', { digest: null }, FOREIGN_RELEASE, null, false],
    ['our label in a release with exactly our text', ours, OWN_RELEASE, null, true],
    ['another label in such a release', { ...theirs, label: 'a.zip' }, OWN_RELEASE, null, false],
    ['no label in such a release', { ...theirs, label: null }, OWN_RELEASE, null, false],
    ['our label in a release of somebody else', ours, FOREIGN_RELEASE, null, false],
    ['our label in a release with more than our text', ours, noted, null, false],
    ['our label in a release with its last line alone', ours, quoted, null, false],
    ['our label in a release that a browser saved', ours, saved, null, false],
  ])('%s: is deleted if owned, or with overwrite', async (_, asset, release, bytes, owned) => {
    const setup = { assets: [assetWith({ id: 4, ...asset })], release };
    await expectDeleted(await prepareRemoval({ ...setup, options: { overwrite: true } }, bytes), [4]);
    const prepared = await prepareRemoval(setup, bytes);
    if (owned) await expectDeleted(prepared, [4]);
    else {
      await expectRefused(prepared, {
        code: 'NOT_OURS',
        message: `nothing shows that the asset a.zip of release ${TODAY} is yours`,
        hint: 'give the file with the same bytes as `file:`, or set `overwrite: true`',
      });
    }
  });

  test.each([false, true])('an unfinished upload is never deleted, with overwrite: %s', async (overwrite) => {
    const assets = [assetWith({ state: 'starter', label: LABEL })];
    const prepared = await prepareRemoval({ assets, release: OWN_RELEASE, options: { overwrite } });
    const hint = expect.stringMatching(/delete this unfinished asset on the page of the release$/);
    await expectRefused(prepared, { code: 'CONFLICT', hint });
  });

  test('an asset of an immutable release is refused before a request that must fail', async () => {
    const release = { ...OWN_RELEASE, immutable: true };
    const message = `the release ${TODAY} is immutable: its asset a.zip can't be deleted`;
    await expectRefused(await prepareRemoval({ assets: [OWN], release }), {
      ...{ code: 'FORBIDDEN_BY_RULE', message },
    });
  });

  const interim = assetWith({
    ...{ id: 6, name: 'incoming-0123456789ab-a.zip', label: LABEL, updated_at: QUIET },
  });
  const fresh = { ...interim, id: 7, updated_at: '2026-01-02T03:00:00Z' };
  test.each<[string, readonly Asset[], number[], boolean?]>([
    ['beside the asset', [interim, OWN], [6, 4]],
    ['in place of the asset', [interim], [6]],
    ['the replaced one', [{ ...interim, name: 'outgoing-0123456789ab-a.zip' }], [6]],
    ['with the label of somebody else, which is kept', [{ ...interim, label: 'theirs' }, OWN], [4]],
    ['for another name, which is kept', [{ ...interim, name: 'incoming-0123456789ab-b.zip' }, OWN], [4]],
    ['that of a running job, which is kept', [interim, fresh, OWN], [6, 4], true],
  ])('what a killed replacement left is deleted too: %s', async (_, assets, deleted, isTold = false) => {
    const { unknown } = await expectDeleted(await prepareRemoval({ assets, release: OWN_RELEASE }), deleted);
    const told = `whether another job publishes a.zip again: it has ${fresh.name} there`;
    expect(unknown).toEqual(isTold ? [told] : []);
  });

  test('what a running job has uploaded in place of the asset is not deleted', async () => {
    const prepared = await prepareRemoval({ assets: [fresh], release: OWN_RELEASE });
    const message = `an upload of ${fresh.name} to the release ${TODAY} has not ended`;
    await expectRefused(prepared, { code: 'CONFLICT', message });
  });
});

describe('removing an asset through channel K2 without a tag', () => {
  const ours = { label: LABEL, digest: 'sha256:0ther' };
  const same = { label: 'a.zip', digest: OWN_DIGEST };
  const theirs = { label: 'a.zip', digest: 'sha256:0ther' };

  /** A removal from the releases of today and yesterday, each with one asset, or none. */
  const prepareSearch = (listed: readonly (Partial<Asset> | null)[], bytes: string | null = null) => {
    const [today = [], yesterday = []] = listed.map((one, at) =>
      one === null ? [] : [assetWith({ id: 50 + at, ...one })],
    );
    const assets = { [TODAY]: today, [YESTERDAY]: yesterday };
    return prepareRemoval({ assets, release: OWN_RELEASE, options: { tagIsDefault: true } }, bytes);
  };

  test.each<[string, readonly (Partial<Asset> | null)[], string | null, string, readonly string[]]>([
    ['today, because only that release has it', [ours, null], null, TODAY, []],
    ['yesterday, because only that release has it', [null, ours], null, YESTERDAY, []],
    ['today, because that one is newer', [ours, ours], null, TODAY, [YESTERDAY]],
    ['yesterday, because that one has the bytes', [ours, same], BYTES, YESTERDAY, [TODAY]],
    ['yesterday, because the other one is somebody else’s', [theirs, ours], null, YESTERDAY, [TODAY]],
  ])('looks at two releases and deletes that of %s', async (_, assets, bytes, tag, others) => {
    const prepared = await prepareSearch(assets, bytes);
    expect(prepared.task.plan.destination).toBe(`release ${TODAY} or ${YESTERDAY}, asset a.zip`);
    expect(await expectDeleted(prepared, [tag === TODAY ? 50 : 51])).toMatchObject({
      plan: { destination: `release ${tag}, asset a.zip` },
      notes: others.map(
        (one) => `an asset a.zip is also in the release ${one}: name that tag to withdraw it`,
      ),
    });
  });

  test('does not say that nothing exists where neither release has it', async () => {
    await expectRefused(await prepareSearch([null, null]), {
      code: 'NOT_FOUND',
      message: expect.stringContaining('others were not searched'),
      hint: expect.stringContaining('`tag:`'),
    });
  });
});

test('of several assets the owned ones are deleted, and the foreign one is refused', async () => {
  const digests = { 'a.zip': OWN_DIGEST, 'b.zip': 'sha256:0ther', 'c.zip': OWN_DIGEST };
  const assets = Object.entries(digests).map(([name, digest], at) => assetWith({ id: at + 1, name, digest }));
  const { github, remover } = createRemover({ assets, release: OWN_RELEASE });
  const file = await localFile(BYTES, 'a.zip');
  const items = Object.keys(digests).map((name) => ({ file, name }));
  const tasks = await prepareAll(remover, items);
  expect(await remover.perform(tasks)).toMatchObject([
    { evidence: 'asset 1 (a.zip) is deleted' },
    { code: 'NOT_OURS' },
    { evidence: 'asset 3 (c.zip) is deleted' },
  ]);
  expect(github.names).toEqual(['release_by_tag', 'list_assets', 'delete_asset', 'delete_asset']);
});
