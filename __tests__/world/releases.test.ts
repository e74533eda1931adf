import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { createWorldClient } from './client.ts';
import type { TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';

let count = 0;

const setup = setUpWorld();

const TAG = 'files-20260101';

async function newRelease(spec = {}) {
  const repository = await setup.world.repository({ owner: 'octo', name: `files-${++count}`, ...spec });
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

test('private repositories refuse setup.anonymous downloads', async () => {
  const { release } = await newRelease({ private: true });
  const { json } = await upload(release, 'a.txt');
  expect((await setup.anonymous.send(`GET ${json.browser_download_url}`)).status).toBe(404);
});

test('a release takes 1,000 assets', async () => {
  const { repository, release } = await newRelease();
  repository.addEarlierAssets(TAG, 999);
  expect((await upload(release, 'last.txt')).status).toBe(201);
  const refused = await upload(release, 'more.txt');
  expect(refused.status).toBe(422);
  expect(flaw(refused)).toMatchObject({
    field: 'file_count',
    message: 'file_count limited to 1000 assets per release',
  });
});

test.each([
  [2 ** 31 - 1, 201],
  [2 ** 31, 422],
])('an asset that announces %d bytes is answered %d', async (size, status) => {
  const { release } = await newRelease();
  const url = release.upload_url.replace('{?name,label}', '?name=large.bin');
  const { host, pathname, searchParams } = new URL(url);
  const answer = await setup.world.ask({
    method: 'POST',
    url,
    host,
    path: pathname,
    query: searchParams,
    headers: { authorization: `Bearer ${setup.world.token()}`, 'content-length': String(size) },
    body: Readable.from([Buffer.from('x')]),
  });
  expect(answer.status).toBe(status);
  if (status !== 422) return;
  const { message } = JSON.parse(String(answer.body)).errors[0];
  expect(message).toBe('size must be less than or equal to 2147483648');
});

describe('a draft', () => {
  const newDraft = async (tag = TAG) => {
    const repository = await setup.world.repository({ owner: 'octo', name: `draft-${++count}` });
    const base = `/repos/${repository.fullName}/releases`;
    const draft = await setup.client.send(`POST ${base}`, { tag_name: tag, draft: true });
    return { repository, base, draft: draft.json };
  };

  test('has no tag and is not found by it, and a second one of the same tag is possible', async () => {
    const { repository, base, draft } = await newDraft();
    expect(draft).toMatchObject({ draft: true, immutable: false, published_at: null });
    expect((await setup.client.send(`GET ${base}/tags/${TAG}`)).status).toBe(404);
    expect((await setup.client.send(`GET /repos/${repository.fullName}/git/ref/tags/${TAG}`)).status).toBe(
      404,
    );
    expect((await setup.client.send(`POST ${base}`, { tag_name: TAG, draft: true })).status).toBe(201);
    expect(repository.releases()).toHaveLength(2);
  });

  test('is hidden from readers, and its assets can not be downloaded by anybody', async () => {
    const { base, draft } = await newDraft();
    const { json } = await upload(draft, 'a.txt');
    const reader = createWorldClient(setup.world, setup.world.token({ contents: 'read' }));
    expect((await reader.send(`GET ${base}/${draft.id}`)).status).toBe(404);
    expect((await reader.send(`GET ${base}/assets/${json.id}`)).status).toBe(404);
    expect((await setup.anonymous.send(`GET ${json.browser_download_url}`)).status).toBe(404);
    await reader.close();
  });

  test('gets its tag and its final addresses when it is published', async () => {
    const { repository, base, draft } = await newDraft();
    await upload(draft, 'a.txt');
    const published = await setup.client.send(`PATCH ${base}/${draft.id}`, { draft: false });
    expect(published).toMatchObject({ status: 200, json: { draft: false, id: draft.id } });
    const [asset] = published.json.assets;
    expect(asset.browser_download_url).toContain(`/releases/download/${TAG}/`);
    expect((await setup.anonymous.send(`GET ${asset.browser_download_url}`)).status).toBe(302);
    const ref = await setup.client.send(`GET /repos/${repository.fullName}/git/ref/tags/${TAG}`);
    expect(ref.json.object.sha).toBe(await repository.head());
    const second = (await setup.client.send(`POST ${base}`, { tag_name: TAG, draft: true })).json;
    const refused = await setup.client.send(`PATCH ${base}/${second.id}`, { draft: false });
    expect(flaw(refused)).toMatchObject({ code: 'already_exists', field: 'tag_name' });
  });
});

describe('an immutable release', () => {
  const newImmutable = async () => {
    const made = await newRelease();
    made.repository.immutableReleases(true);
    const draft = (await setup.client.send(`POST ${made.base}`, { tag_name: 'frozen', draft: true })).json;
    const asset = (await upload(draft, 'a.txt')).json;
    const release = (await setup.client.send(`PATCH ${made.base}/${draft.id}`, { draft: false })).json;
    return { ...made, before: made.release, release, asset };
  };

  test('is one that was published while the setting was on', async () => {
    const { repository, base, before, release } = await newImmutable();
    expect(release).toMatchObject({ draft: false, immutable: true });
    expect((await setup.client.send(`GET ${base}/${before.id}`)).json.immutable).toBe(false);
    expect((await upload(before, 'b.txt')).status).toBe(201);
    repository.immutableReleases(false);
    expect((await upload(release, 'b.txt')).status).toBe(422);
  });

  test('refuses every change of its assets and of its tag', async () => {
    const { repository, base, release, asset } = await newImmutable();
    expect(await upload(release, 'b.txt')).toMatchObject({
      status: 422,
      json: { message: 'Cannot upload assets to an immutable release.' },
    });
    expect((await setup.client.send(`DELETE ${base}/assets/${asset.id}`)).status).toBe(422);
    expect((await setup.client.send(`PATCH ${base}/assets/${asset.id}`, { name: 'b.txt' })).status).toBe(422);
    const tag = `/repos/${repository.fullName}/git/refs/tags/frozen`;
    expect((await setup.client.send(`DELETE ${tag}`)).status).toBe(422);
    expect((await setup.client.send(`PATCH ${base}/${release.id}`, { body: 'New' })).json.body).toBe('New');
  });

  test('takes the name of its tag with it when it is deleted', async () => {
    const { repository, base, release } = await newImmutable();
    expect((await setup.client.send(`DELETE ${base}/${release.id}`)).status).toBe(204);
    expect(
      (await setup.client.send(`DELETE /repos/${repository.fullName}/git/refs/tags/frozen`)).status,
    ).toBe(204);
    const again = await setup.client.send(`POST ${base}`, { tag_name: 'frozen' });
    expect(again.status).toBe(422);
    expect(flaw(again)).toMatchObject({
      field: 'tag_name',
      message: 'tag_name was used by an immutable release',
    });
    const draft = (await setup.client.send(`POST ${base}`, { tag_name: 'frozen', draft: true })).json;
    expect((await setup.client.send(`PATCH ${base}/${draft.id}`, { draft: false })).status).toBe(422);
    const ref = { ref: 'refs/tags/frozen', sha: await repository.head() };
    expect((await setup.client.send(`POST /repos/${repository.fullName}/git/refs`, ref)).status).toBe(422);
  });
});

test('a release in an empty repository is refused', async () => {
  const { fullName }: TestRepository = await setup.world.repository({
    owner: 'octo',
    name: 'hollow',
    empty: true,
  });
  expect((await setup.client.send(`POST /repos/${fullName}/releases`, { tag_name: TAG })).status).toBe(422);
});
