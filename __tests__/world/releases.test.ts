import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';

const setup = setUpWorld();

const TAG = 'files-20260101';

async function newRelease(spec = {}) {
  const repository = await setup.newRepository(spec);
  const { json } = await setup.client.send(`POST /repos/${repository.fullName}/releases`, {
    tag_name: TAG,
    name: TAG,
  });
  return { repository, release: json, base: `/repos/${repository.fullName}/releases` };
}

function upload(
  release: { upload_url: string },
  name: string,
  body: Buffer | string = 'x',
  sender = setup.client,
) {
  const url = release.upload_url.replace('{?name,label}', `?name=${encodeURIComponent(name)}`);
  return sender.send(`POST ${url}`, body, { 'content-type': 'application/octet-stream' });
}

const flaw = (answer: { json: { errors: object[] } }) => answer.json.errors[0];

test('an asset of 50 MB is uploaded and downloaded completely', async () => {
  const { release, base } = await newRelease();
  const bytes = randomBytes(50_000_000);
  const asset = await upload(release, 'big.bin', bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(asset).toMatchObject({
    status: 201,
    json: { name: 'big.bin', state: 'uploaded', size: 50_000_000, digest: `sha256:${sha256}` },
  });
  const first = await setup.anonymous.send(`GET ${asset.json.browser_download_url}`);
  expect(first).toMatchObject({
    status: 302,
    headers: { location: expect.stringMatching(/^https:\/\/release-assets\.githubusercontent\.com\//) },
  });
  const second = await setup.anonymous.send(`GET ${first.headers.location}`);
  expect(second.bytes.equals(bytes)).toBe(true);
  expect((await setup.client.send(`GET ${base}/tags/${TAG}`)).json.assets).toMatchObject([
    { name: 'big.bin' },
  ]);
  expect(setup.world.traffic.exchanges(/uploads/).at(-1)?.body).toMatchObject({ sha256, size: 50_000_000 });
});

test('the storage host of a download accepts only its signature', async () => {
  const { release } = await newRelease();
  const { json } = await upload(release, 'page.html', '<p>x</p>');
  const location = (await setup.anonymous.send(`GET ${json.browser_download_url}`)).headers
    .location as string;
  expect(await setup.anonymous.send(`GET ${location}`)).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename=page.html',
    },
  });
  expect(await setup.client.send(`GET ${location}`)).toMatchObject({
    status: 400,
    text: expect.stringContaining('Only one auth mechanism allowed'),
  });
  expect((await setup.anonymous.send(`GET ${location}0`)).status).toBe(403);
});

test('a second release of a tag is refused', async () => {
  const { repository, release, base } = await newRelease();
  const again = await setup.client.send(`POST ${base}`, { tag_name: TAG });
  expect(again.status).toBe(422);
  expect(flaw(again)).toEqual({ resource: 'Release', code: 'already_exists', field: 'tag_name' });
  expect((await setup.client.send(`GET ${base}/tags/${TAG}`)).json.id).toBe(release.id);
  expect((await setup.client.send(`GET ${base}/tags/other`)).status).toBe(404);
  expect(repository.releases()).toMatchObject([{ tag: TAG, assets: [] }]);
  expect((await setup.client.send(`DELETE ${base}/${release.id}`)).status).toBe(204);
  expect(repository.releases()).toEqual([]);
});

test.each([
  ['my file (1).html', 'my.file.1.html'],
  ['отчёт.html', 'default.html'],
  ['a_b-c+d@e.txt', 'a_b-c+d@e.txt'],
])('an asset named %s is stored as %s', async (asked, name) => {
  const { release } = await newRelease();
  expect((await upload(release, asked)).json).toMatchObject({
    name,
    browser_download_url: expect.stringMatching(new RegExp(`/releases/download/${TAG}/`)),
  });
});

test('an asset name can be used once, even after a failed upload', async () => {
  const { repository, release, base } = await newRelease();
  await repository.addUnfinishedAsset(TAG, 'a.txt');
  const taken = await upload(release, 'a.txt');
  expect(taken.status).toBe(422);
  expect(flaw(taken)).toEqual({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' });
  const [starter] = (await setup.client.send(`GET ${base}/${release.id}/assets`)).json;
  expect(starter).toMatchObject({ state: 'starter', size: 0, digest: null });
  expect((await setup.anonymous.send(`GET ${starter.browser_download_url}`)).status).toBe(404);
  expect((await setup.client.send(`DELETE ${base}/assets/${starter.id}`)).status).toBe(204);
  expect((await upload(release, 'a.txt')).status).toBe(201);
});

test('renaming an asset changes its address', async () => {
  const { release, base } = await newRelease();
  const { id } = (await upload(release, 'a.txt')).json;
  await upload(release, 'taken.txt');
  const rename = (name: string) => setup.client.send(`PATCH ${base}/assets/${id}`, { name, label: 'A' });
  expect((await rename('taken.txt')).status).toBe(422);
  expect((await rename('b.txt')).json).toMatchObject({
    name: 'b.txt',
    label: 'A',
    browser_download_url: expect.stringMatching(/\/b\.txt$/),
  });
});

test('assets are listed in pages of 30', async () => {
  const { repository, release, base } = await newRelease();
  for (let number = 0; number < 31; number += 1) await repository.addUnfinishedAsset(TAG, `${number}.txt`);
  const first = await setup.client.send(`GET ${base}/${release.id}/assets`);
  expect(first.json).toHaveLength(30);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.link ?? '')?.[1];
  expect((await setup.client.send(`GET ${next}`)).json).toHaveLength(1);
});

test.each([
  ['without credentials', async (release: never) => upload(release, 'a', 'x', setup.anonymous), 401],
  ['of nothing', async (release: never) => upload(release, 'a', ''), 422],
])('an upload %s is refused', async (_, send, status) => {
  const { release } = await newRelease();
  expect((await send(release as never)).status).toBe(status);
});

test('immutable releases refuse changes, and private repositories refuse anonymous downloads', async () => {
  const { repository, release } = await newRelease();
  repository.immutableReleases(true);
  expect(await upload(release, 'a.txt')).toMatchObject({
    status: 422,
    json: { message: 'Cannot upload assets to an immutable release.' },
  });
  const hidden = await newRelease({ private: true });
  const { json } = await upload(hidden.release, 'a.txt');
  expect((await setup.anonymous.send(`GET ${json.browser_download_url}`)).status).toBe(404);
});

test('a release in an empty repository is refused', async () => {
  const { fullName }: TestRepository = await setup.world.repository({
    owner: 'octo',
    name: 'hollow',
    empty: true,
  });
  expect((await setup.client.send(`POST /repos/${fullName}/releases`, { tag_name: TAG })).status).toBe(422);
});
