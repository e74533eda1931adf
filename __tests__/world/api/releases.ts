import { json, type Reply } from '../front/http.ts';
import type { Asset, Release } from '../releases.ts';
import { assetName } from '../releases.ts';
import type { WorldRepository } from '../repository.ts';
import { bodyOf, type Call, idOf, paged, requiredText, textField } from './call.ts';
import { fail, invalid, notFound } from './errors.ts';
import { apiUrl, pageUrl, userView } from './repository.ts';
import { route } from './routes.ts';

const BOT = userView('github-actions[bot]');

/** An asset in the API's form; also what the uploads host answers. */
export function assetView(repository: WorldRepository, release: Release, asset: Asset) {
  const { id, name, label, state, contentType, size, digest, downloads, createdAt, updatedAt } = asset;
  const folder = release.draft ? `untagged-${release.id}` : encodeURIComponent(release.tag);
  return {
    id,
    name,
    label,
    state,
    content_type: contentType,
    size,
    digest,
    download_count: downloads,
    uploader: BOT,
    url: `${apiUrl(repository)}/releases/assets/${id}`,
    browser_download_url: `${pageUrl(repository)}/releases/download/${folder}/${encodeURIComponent(name)}`,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function releaseView(repository: WorldRepository, release: Release) {
  const { id, tag, target, name, body, draft, prerelease, createdAt, assets } = release;
  const uploads = `${repository.instance.uploads}/repos/${repository.fullName}`;
  return {
    id,
    tag_name: tag,
    target_commitish: target,
    name,
    body,
    draft,
    prerelease,
    immutable: repository.shelf.immutable,
    author: BOT,
    url: `${apiUrl(repository)}/releases/${id}`,
    html_url: `${pageUrl(repository)}/releases/tag/${encodeURIComponent(tag)}`,
    assets_url: `${apiUrl(repository)}/releases/${id}/assets`,
    upload_url: `${uploads}/releases/${id}/assets{?name,label}`,
    created_at: createdAt.toISOString(),
    published_at: draft ? null : createdAt.toISOString(),
    assets: assets.map((asset) => assetView(repository, release, asset)),
  };
}

function releaseOf(call: Call): Release {
  return call.repository.shelf.byId(idOf(call, 'id')) ?? notFound();
}

function assetOf(call: Call): { release: Release; asset: Asset } {
  return call.repository.shelf.assetById(idOf(call, 'id')) ?? notFound();
}

/** Ends the request when the releases' assets must not change. */
export function assertMutable({ shelf }: WorldRepository, change: string): void {
  if (shelf.immutable) fail(422, `Cannot ${change} an immutable release.`);
}

async function create(call: Call): Promise<Reply> {
  const { repository } = call;
  const body = await bodyOf(call);
  const tag = requiredText(body, 'tag_name');
  const target = textField(body, 'target_commitish') ?? repository.branch;
  const draft = body.draft === true;
  const head = await repository.head();
  if (head === null) invalid({ resource: 'Release', code: 'custom', message: 'Repository is empty.' });
  return repository.exclusively(async () => {
    if (!draft && repository.shelf.byTag(tag) !== undefined) {
      invalid({ resource: 'Release', code: 'already_exists', field: 'tag_name' });
    }
    const commit = await repository.git.resolve(target);
    const isNew = (await repository.git.readRef(`refs/tags/${tag}`)) === null;
    if (isNew && commit === null) {
      invalid({ resource: 'Release', code: 'invalid', field: 'target_commitish' });
    }
    if (!draft && isNew) await repository.git.updateRef(`refs/tags/${tag}`, commit as string, null);
    const release = repository.shelf.add({
      tag,
      target,
      name: textField(body, 'name') ?? null,
      body: textField(body, 'body') ?? null,
      draft,
      prerelease: body.prerelease === true,
    });
    return json(201, releaseView(repository, release));
  });
}

async function update(call: Call): Promise<Reply> {
  const release = releaseOf(call);
  const body = await bodyOf(call);
  release.name = textField(body, 'name') ?? release.name;
  release.body = textField(body, 'body') ?? release.body;
  if (typeof body.draft === 'boolean') release.draft = body.draft;
  return json(200, releaseView(call.repository, release));
}

async function remove(call: Call): Promise<Reply> {
  await call.repository.shelf.remove(releaseOf(call));
  return { status: 204 };
}

function list(call: Call): Reply {
  const { repository, permissions } = call;
  const { releases } = repository.shelf;
  // Drafts are for those who may write.
  const visible = releases.filter(({ draft }) => !draft || permissions?.contents === 'write');
  const { page, headers } = paged(call, visible);
  return json(
    200,
    page.map((release) => releaseView(repository, release)),
    headers,
  );
}

function listAssets(call: Call): Reply {
  const release = releaseOf(call);
  const { page, headers } = paged(call, release.assets);
  return json(
    200,
    page.map((asset) => assetView(call.repository, release, asset)),
    headers,
  );
}

async function renameAsset(call: Call): Promise<Reply> {
  const { release, asset } = assetOf(call);
  const body = await bodyOf(call);
  const name = assetName(textField(body, 'name') ?? asset.name);
  assertMutable(call.repository, 'update assets of');
  if (release.assets.some((other) => other !== asset && other.name === name)) {
    invalid({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' });
  }
  asset.name = name;
  asset.label = textField(body, 'label') ?? asset.label;
  asset.updatedAt = new Date();
  return json(200, assetView(call.repository, release, asset));
}

async function removeAsset(call: Call): Promise<Reply> {
  const { release, asset } = assetOf(call);
  assertMutable(call.repository, 'delete assets from');
  await call.repository.shelf.removeAsset(release, asset);
  return { status: 204 };
}

function showByTag({ repository, parameters }: Call): Reply {
  const release = repository.shelf.byTag(parameters.tag ?? '') ?? notFound();
  return json(200, releaseView(repository, release));
}

function showAsset(call: Call): Reply {
  const { release, asset } = assetOf(call);
  return json(200, assetView(call.repository, release, asset));
}

const READ = { contents: 'read' } as const;
const WRITE = { contents: 'write' } as const;

export const releaseRoutes = [
  route('GET /releases', READ, list),
  route('POST /releases', WRITE, create),
  route('GET /releases/tags/*tag', READ, showByTag),
  route('GET /releases/assets/:id', READ, showAsset),
  route('PATCH /releases/assets/:id', WRITE, renameAsset),
  route('DELETE /releases/assets/:id', WRITE, removeAsset),
  route('GET /releases/:id', READ, (call) => json(200, releaseView(call.repository, releaseOf(call)))),
  route('PATCH /releases/:id', WRITE, update),
  route('DELETE /releases/:id', WRITE, remove),
  route('GET /releases/:id/assets', READ, listAssets),
];
