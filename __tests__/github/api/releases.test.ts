import { expect, test } from '@jest/globals';
import { deleteAsset, publishDraft, renameAsset } from '../../../src/github/api/releases.ts';
import { absent, FakeGitHub } from '../fake-github.ts';

const UPLOADS = 'https://uploads.github.com/repos/octo/site/releases/3/assets{?name,label}';
const RELEASE = { id: 3, tag_name: 't', name: 't', draft: false, upload_url: UPLOADS, body: null };
const ASSET = {
  id: 9,
  name: 'a.zip',
  label: null,
  state: 'uploaded',
  size: 5,
  digest: null,
  browser_download_url: 'https://github.com/octo/site/releases/download/t/a.zip',
  updated_at: '2026-01-02T03:04:05Z',
};

const DRAFT = { ...RELEASE, draft: true };

test.each([
  ['files-20260102', false, 'false', false],
  ['v1.0.0', true, 'legacy', false],
  ['v1.0.0-rc.1', true, 'legacy', true],
  ['app@1.0.0-beta.2+build.7', true, 'legacy', true],
  ['app-v1.0.0-0', true, 'legacy', true],
  ['1.0.0+build-7', true, 'legacy', false],
  ['nightly-2026.01.02-1', true, 'legacy', false],
])('publishDraft under the tag %s (named: %s) is the latest: %s, a prerelease: %s', async (tag, ...row) => {
  const [isNamed, make_latest, prerelease] = row;
  const github = new FakeGitHub({ publish_release: RELEASE });
  await expect(publishDraft(github, DRAFT, { tag, isNamed })).resolves.toBe(RELEASE);
  const published = { release_id: 3, tag_name: tag, name: tag, draft: false, make_latest, prerelease };
  expect(github.sent('publish_release')).toMatchObject([published]);
});

test.each([
  ['is gone', [], 1],
  ['is listed all the same', [ASSET], 2],
])(
  'an asset that the host does not find, and that %s, is asked for again by the list alone',
  async (_, listed, times) => {
    const github = new FakeGitHub({ delete_asset: absent, list_assets: listed });
    await deleteAsset(github, RELEASE, ASSET);
    expect(github.sent('delete_asset')).toEqual(Array(times).fill({ asset_id: 9 }));
  },
);

test.each(['б.zip', null])('renameAsset renames by id and keeps the label: %s', async (label) => {
  const github = new FakeGitHub({ rename_asset: ASSET });
  await expect(renameAsset(github, { ...ASSET, label }, 'b.zip')).resolves.toBe(ASSET);
  expect(github.sent('rename_asset')).toEqual([{ asset_id: 9, name: 'b.zip', label: label ?? 'b.zip' }]);
});
