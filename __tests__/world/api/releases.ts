import type { StoredAsset, StoredRelease } from '../release-store.ts';
import { normalizeAssetName } from '../release-store.ts';
import type { HostedRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, getId, getText, paginate, readBody, requireText } from './call.ts';
import { fail, failInvalid, failNotFound } from './errors.ts';
import { formatUser, getApiUrl, getPageUrl } from './repository.ts';
import { createRoute } from './routes.ts';

const BOT = formatUser('github-actions[bot]');

/** Formats an asset as the API and the uploads host answer it. */
export function formatAsset(repository: HostedRepository, release: StoredRelease, asset: StoredAsset) {
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
    url: `${getApiUrl(repository)}/releases/assets/${id}`,
    browser_download_url: `${getPageUrl(repository)}/releases/download/${folder}/${encodeURIComponent(name)}`,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function formatRelease(repository: HostedRepository, release: StoredRelease) {
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
    immutable: repository.releaseStore.immutable,
    author: BOT,
    url: `${getApiUrl(repository)}/releases/${id}`,
    html_url: `${getPageUrl(repository)}/releases/tag/${encodeURIComponent(tag)}`,
    assets_url: `${getApiUrl(repository)}/releases/${id}/assets`,
    upload_url: `${uploads}/releases/${id}/assets{?name,label}`,
    created_at: createdAt.toISOString(),
    published_at: draft ? null : createdAt.toISOString(),
    assets: assets.map((asset) => formatAsset(repository, release, asset)),
  };
}

function getRelease(call: ApiCall): StoredRelease {
  return call.repository.releaseStore.findById(getId(call, 'id')) ?? failNotFound();
}

function getAsset(call: ApiCall): { release: StoredRelease; asset: StoredAsset } {
  return call.repository.releaseStore.findAssetById(getId(call, 'id')) ?? failNotFound();
}

/** Ends the request when the releases' assets must not change. */
export function assertMutable({ releaseStore }: HostedRepository, change: string): void {
  if (releaseStore.immutable) fail(422, `Cannot ${change} an immutable release.`);
}

async function createRelease(call: ApiCall): Promise<HostReply> {
  const { repository } = call;
  const body = await readBody(call);
  const tag = requireText(body, 'tag_name');
  const target = getText(body, 'target_commitish') ?? repository.branch;
  const draft = body.draft === true;
  const head = await repository.head();
  if (head === null) failInvalid({ resource: 'Release', code: 'custom', message: 'Repository is empty.' });
  return repository.runExclusively(async () => {
    if (!draft && repository.releaseStore.findByTag(tag) !== undefined) {
      failInvalid({ resource: 'Release', code: 'already_exists', field: 'tag_name' });
    }
    const commit = await repository.git.resolve(target);
    const isNew = (await repository.git.readRef(`refs/tags/${tag}`)) === null;
    if (isNew && commit === null) {
      failInvalid({ resource: 'Release', code: 'invalid', field: 'target_commitish' });
    }
    if (!draft && isNew) await repository.git.updateRef(`refs/tags/${tag}`, commit as string, null);
    const release = repository.releaseStore.add({
      tag,
      target,
      name: getText(body, 'name') ?? null,
      body: getText(body, 'body') ?? null,
      draft,
      prerelease: body.prerelease === true,
    });
    return replyJson(201, formatRelease(repository, release));
  });
}

async function updateRelease(call: ApiCall): Promise<HostReply> {
  const release = getRelease(call);
  const body = await readBody(call);
  release.name = getText(body, 'name') ?? release.name;
  release.body = getText(body, 'body') ?? release.body;
  if (typeof body.draft === 'boolean') release.draft = body.draft;
  return replyJson(200, formatRelease(call.repository, release));
}

async function removeRelease(call: ApiCall): Promise<HostReply> {
  await call.repository.releaseStore.remove(getRelease(call));
  return { status: 204 };
}

function listReleases(call: ApiCall): HostReply {
  const { repository, permissions } = call;
  const { releases } = repository.releaseStore;
  // Drafts are visible only to tokens with write permission.
  const visible = releases.filter(({ draft }) => !draft || permissions?.contents === 'write');
  const { page, headers } = paginate(call, visible);
  return replyJson(
    200,
    page.map((release) => formatRelease(repository, release)),
    headers,
  );
}

function listAssets(call: ApiCall): HostReply {
  const release = getRelease(call);
  const { page, headers } = paginate(call, release.assets);
  return replyJson(
    200,
    page.map((asset) => formatAsset(call.repository, release, asset)),
    headers,
  );
}

async function renameAsset(call: ApiCall): Promise<HostReply> {
  const { release, asset } = getAsset(call);
  const body = await readBody(call);
  const name = normalizeAssetName(getText(body, 'name') ?? asset.name);
  assertMutable(call.repository, 'update assets of');
  if (release.assets.some((other) => other !== asset && other.name === name)) {
    failInvalid({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' });
  }
  asset.name = name;
  asset.label = getText(body, 'label') ?? asset.label;
  asset.updatedAt = new Date();
  return replyJson(200, formatAsset(call.repository, release, asset));
}

async function removeAsset(call: ApiCall): Promise<HostReply> {
  const { release, asset } = getAsset(call);
  assertMutable(call.repository, 'delete assets from');
  await call.repository.releaseStore.removeAsset(release, asset);
  return { status: 204 };
}

function showByTag({ repository, parameters }: ApiCall): HostReply {
  const release = repository.releaseStore.findByTag(parameters.tag ?? '') ?? failNotFound();
  return replyJson(200, formatRelease(repository, release));
}

function showAsset(call: ApiCall): HostReply {
  const { release, asset } = getAsset(call);
  return replyJson(200, formatAsset(call.repository, release, asset));
}

const READ = { contents: 'read' } as const;
const WRITE = { contents: 'write' } as const;

export const RELEASE_ROUTES = [
  createRoute('GET /releases', READ, listReleases),
  createRoute('POST /releases', WRITE, createRelease),
  createRoute('GET /releases/tags/*tag', READ, showByTag),
  createRoute('GET /releases/assets/:id', READ, showAsset),
  createRoute('PATCH /releases/assets/:id', WRITE, renameAsset),
  createRoute('DELETE /releases/assets/:id', WRITE, removeAsset),
  createRoute('GET /releases/:id', READ, (call) =>
    replyJson(200, formatRelease(call.repository, getRelease(call))),
  ),
  createRoute('PATCH /releases/:id', WRITE, updateRelease),
  createRoute('DELETE /releases/:id', WRITE, removeRelease),
  createRoute('GET /releases/:id/assets', READ, listAssets),
];
