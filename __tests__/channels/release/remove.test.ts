import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { formatLabel } from '../../../src/github/api/releases.ts';
import { type Played, proven, refused, requestsOf, setUpPlay, writesOf } from '../../scenarios/play.ts';
import type { TestRepository } from '../../world/repository.ts';
import { type HeldAsset, hold, QUIET } from './held-assets.ts';

const play = setUpPlay();
const TODAY = 'files-20260102';
const YESTERDAY = 'files-20260101';
const BYTES = 'bytes of the file';
const DIGEST = `sha256:${createHash('sha256').update(BYTES).digest('hex')}`;
const LABEL = formatLabel('a.zip');
/** A person's upload may have the same bytes as the given file. */
const SAME: HeldAsset = { name: 'a.zip', digest: DIGEST };
const OURS: HeldAsset = { name: 'a.zip', digest: 'other', label: LABEL };
const THEIRS: HeldAsset = { name: 'a.zip', digest: 'other' };

/** Releases by tag, with their assets. */
async function openReleases(held: Readonly<Record<string, readonly HeldAsset[]>>): Promise<TestRepository> {
  const repository = await play.repository({ pages: false });
  const about = { target: 'main', body: 'Version 1.2', draft: false, prerelease: false };
  for (const [tag, assets] of Object.entries(held)) {
    hold(repository, repository.releaseStore.add({ tag, name: tag, ...about }), ...assets);
  }
  return repository;
}

/** Withdraws `a.zip`, with or without the file. */
const withdraw = (
  repository: TestRepository,
  bytes: string | null = null,
  inputs: object = { tag: TODAY },
): Promise<Played> =>
  play.deliver({
    repository,
    files: bytes === null ? {} : { 'a.zip': bytes },
    inputs: { operation: 'withdraw', channel: 'K2', path: bytes === null ? 'a.zip' : '', ...inputs },
  });

const listLeft = (repository: TestRepository): string[] =>
  repository.releases().flatMap(({ tag, assets }) => assets.map(({ name }) => `${tag}/${name}`));

test.each<[string, Readonly<Record<string, readonly HeldAsset[]>>, string]>([
  ['the release', {}, TODAY],
  ['the asset', { [TODAY]: [{ name: 'b.zip' }] }, TODAY],
  ['either', {}, 'day/1#'],
])('nothing is deleted where %s does not exist', async (_, held, tag) => {
  const played = await proven(withdraw(await openReleases(held), null, { tag, path: 'отчёт.zip' }));
  expect(played.report.lines.CODE).toContain(`release ${tag}, asset otchyot.zip`);
  const address = `/releases/download/${tag.replace('#', '%23')}/otchyot.zip`;
  expect(requestsOf(played, /releases\/download/)[0]).toContain(address);
  expect(writesOf(played)).toEqual([]);
});

describe('who owns an asset that channel K2 removes', () => {
  test.each<[string, HeldAsset, string | null, boolean]>([
    ['our label', OURS, null, true],
    ['our label, and other bytes than the file', OURS, BYTES, true],
    ['the same bytes as the file, without a label', SAME, BYTES, false],
    ['another label', { ...OURS, label: 'a.zip' }, null, false],
    ['no label', THEIRS, null, false],
  ])('%s: is deleted if owned, or with overwrite', async (_, asset, bytes, owned) => {
    for (const overwrite of ['false', 'true']) {
      const repository = await openReleases({ [TODAY]: [asset] });
      const inputs = { tag: TODAY, overwrite };
      const planned = await withdraw(repository, bytes, { ...inputs, 'dry-run': 'true' });
      expect(writesOf(planned)).toEqual([]);
      if (owned || overwrite === 'true') {
        expect(planned.log).toMatch(/asset \d+ \(a\.zip\) of the release files-20260102 would be deleted/);
        await proven(withdraw(repository, bytes, inputs));
        expect(listLeft(repository)).toEqual([]);
      } else {
        const says =
          /^place: the asset a\.zip of release files-20260102 does not have this tool's label, .* → set `overwrite: true`/;
        await refused(Promise.resolve(planned), says);
        expect(writesOf(await refused(withdraw(repository, bytes, inputs), says))).toEqual([]);
      }
    }
  });

  test.each(['false', 'true'])(
    'an unfinished upload is never deleted, with overwrite: %s',
    async (overwrite) => {
      const repository = await openReleases({ [TODAY]: [{ ...OURS, state: 'starter' }] });
      const withdrawn = withdraw(repository, null, { tag: TODAY, overwrite });
      const says = /has not finished → .*delete the unfinished asset on the release page$/;
      expect(writesOf(await refused(withdrawn, says))).toEqual([]);
    },
  );

  test('an asset of an immutable release is refused before any write', async () => {
    const repository = await openReleases({ [TODAY]: [OURS] });
    Object.assign(repository.releases()[0] ?? {}, { immutable: true });
    const says = /^place: the release files-20260102 is immutable: its asset a\.zip can't be deleted/;
    expect(writesOf(await refused(withdraw(repository, BYTES), says))).toEqual([]);
  });

  test('after an immutable release, the tag with the next number is searched first', async () => {
    const repository = await openReleases({ [TODAY]: [OURS], [`${TODAY}-2`]: [OURS] });
    const first = repository.releases().find((one) => one.tag === TODAY);
    Object.assign(first ?? {}, { immutable: true });
    await proven(withdraw(repository, null, {}));
    expect(listLeft(repository)).toEqual([`${TODAY}/a.zip`]);
  });

  const LEFT: HeldAsset = { ...OURS, name: 'incoming-0123456789ab-a.zip', updatedAt: QUIET };
  const FRESH: HeldAsset = { ...LEFT, name: 'incoming-ba9876543210-a.zip', updatedAt: new Date() };
  const RUNNING: HeldAsset = { ...FRESH, state: 'starter' };
  test.each<[string, readonly HeldAsset[], readonly HeldAsset[]]>([
    ['beside the asset', [LEFT, OURS], []],
    ['in place of the asset', [LEFT], []],
    ['a moment ago', [FRESH, LEFT], []],
    ['with the label of somebody else, which is kept', [OURS], [{ ...LEFT, label: 'theirs' }]],
    ['for another name, which is kept', [OURS], [{ ...LEFT, name: 'incoming-0123456789ab-b.zip' }]],
    ['an upload that has not ended, which is kept', [FRESH, OURS], [RUNNING]],
  ])('a replacement’s interim assets are deleted too: %s', async (_, deleted, kept) => {
    const repository = await openReleases({ [TODAY]: [...kept, ...deleted] });
    const played = await proven(withdraw(repository));
    expect(played.report.unknown).toEqual([]);
    expect(requestsOf(played, /releases\/download/)[0]).toMatch(/\/a\.zip(\?|$)/);
    expect(listLeft(repository)).toEqual(kept.map(({ name }) => `${TODAY}/${name}`));
  });
});

describe('removing an asset through channel K2 without a tag', () => {
  test.each<[string, HeldAsset | null, HeldAsset | null, string, readonly string[]]>([
    ['today, because only that release has it', OURS, null, TODAY, []],
    ['yesterday, because only that release has it', null, OURS, YESTERDAY, []],
    ['today, because that one is newer', OURS, OURS, TODAY, [YESTERDAY]],
    ['yesterday, because the other one is somebody else’s', SAME, OURS, YESTERDAY, [TODAY]],
  ])('checks two releases and deletes the asset of %s', async (_, today, yesterday, tag, others) => {
    const repository = await openReleases({
      [YESTERDAY]: yesterday === null ? [] : [yesterday],
      [TODAY]: today === null ? [] : [today],
    });
    const { report } = await proven(withdraw(repository, BYTES, {}));
    expect(report.lines.CODE).toContain(`release ${tag}, asset a.zip`);
    expect(report.notes).toEqual(
      others.map((one) => `an asset a.zip is also in the release ${one}: name that tag to withdraw it`),
    );
    expect(listLeft(repository)).toEqual(others.map((one) => `${one}/a.zip`));
  });

  test('does not report that nothing exists if neither release has it', async () => {
    const withdrawn = withdraw(await openReleases({}), null, {});
    await refused(withdrawn, /^place: .*other releases were not searched → .*`tag:`/);
  });
});

test('owned assets are deleted, and a foreign asset is refused', async () => {
  const names = ['a.zip', 'b.zip', 'c.zip'];
  const held = names.map((name) => (name === 'b.zip' ? { ...SAME, name } : { ...OURS, name }));
  const repository = await openReleases({ [TODAY]: held });
  const files = Object.fromEntries(names.map((name) => [name, BYTES]));
  const inputs = { operation: 'withdraw', channel: 'K2', tag: TODAY, file: names.join('\n') };
  const played = await play.deliver({ repository, files, inputs });
  expect(played.reports.map(({ notReady }) => notReady?.code ?? null)).toEqual([null, 'NOT_OURS', null]);
  expect(listLeft(repository)).toEqual([`${TODAY}/b.zip`]);
  expect(requestsOf(played, /releases\/tags|releases\/\d+\/assets/)).toHaveLength(2);
});
