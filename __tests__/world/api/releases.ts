import type { StoredAsset, StoredRelease } from '../release-store.ts';
import { normalizeAssetName } from '../release-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, getId, getText, replyPage, requireText } from './call.ts';
import { fail, failInvalid, failNotFound } from './errors.ts';
import { getPageUrl } from './repository.ts';

export function formatAsset(repository: TestRepository, release: StoredRelease, asset: StoredAsset) {
  const { id, name, label, state, size, digest, updatedAt } = asset;
  // A draft's tag does not exist yet, so its addresses have a name of their own.
  const tag = release.draft ? `untagged-${release.id}` : encodeURIComponent(release.tag);
  const folder = `${getPageUrl(repository)}/releases/download/${tag}`;
  const browser_download_url = `${folder}/${encodeURIComponent(name)}`;
  return { id, name, label, state, size, digest, updated_at: updatedAt, browser_download_url };
}

/** The assets in a release's own JSON. GitHub does not document that the list is complete. */
const LISTED = 30;

function formatRelease(repository: TestRepository, release: StoredRelease) {
  const { id, name, body, draft, prerelease, immutable, tag, target, assets, createdAt, publishedAt } =
    release;
  const uploads = `${repository.instance.uploads}/repos/${repository.fullName}`;
  return {
    ...{ id, name, body, draft, prerelease, immutable },
    tag_name: tag,
    target_commitish: target,
    updated_at: publishedAt ?? createdAt,
    upload_url: `${uploads}/releases/${id}/assets{?name,label}`,
    assets: assets.slice(0, LISTED).map((asset) => formatAsset(repository, release, asset)),
  };
}

/** A draft is visible only to tokens with write permission. */
function isVisible({ permissions }: ApiCall, { draft }: StoredRelease): boolean {
  return !draft || permissions?.contents === 'write';
}

function getRelease(call: ApiCall): StoredRelease {
  const release = call.repository.releaseStore.findById(getId(call, 'id'));
  return release !== undefined && isVisible(call, release) ? release : failNotFound();
}

function getAsset(call: ApiCall): { release: StoredRelease; asset: StoredAsset } {
  const found = call.repository.releaseStore.findAssetById(getId(call, 'id'));
  return found !== undefined && isVisible(call, found.release) ? found : failNotFound();
}

/** Ends the request when the release's assets must not change. */
export function assertMutable({ immutable }: StoredRelease, change: string): void {
  if (immutable) fail(422, `Cannot ${change} an immutable release.`);
}

/** Creates the tag of a published release, or refuses the request if it can't have that tag. */
function claimTag({ repository }: ApiCall, tag: string, target: string): void {
  const { git, releaseStore } = repository;
  if (releaseStore.findByTag(tag) !== undefined) {
    failInvalid({ resource: 'Release', code: 'already_exists', field: 'tag_name' });
  }
  if (releaseStore.isBurned(tag)) {
    const message = 'tag_name was used by an immutable release';
    const noTag = 'Published releases must have a valid tag';
    failInvalid(
      { resource: 'Release', code: 'custom', field: 'tag_name', message },
      { resource: 'Release', code: 'custom', message: noTag },
    );
  }
  if (git.readRef(`refs/tags/${tag}`) !== null) return;
  const commit = git.readRef(`refs/heads/${target}`) ?? (git.getType(target) === 'commit' ? target : null);
  if (commit === null) failInvalid({ resource: 'Release', code: 'invalid', field: 'target_commitish' });
  git.updateRef(`refs/tags/${tag}`, commit, null);
}

async function createRelease(call: ApiCall): Promise<HostReply> {
  const { repository } = call;
  const { body } = call;
  const tag = requireText(body, 'tag_name');
  const target = getText(body, 'target_commitish') ?? repository.branch;
  const draft = body.draft === true;
  const head = await repository.head();
  if (head === null) failInvalid({ resource: 'Release', code: 'custom', message: 'Repository is empty.' });
  return repository.runExclusively(async () => {
    if (!draft) await claimTag(call, tag, target);
    const release = repository.releaseStore.add({
      tag,
      target,
      name: getText(body, 'name') ?? null,
      body: getText(body, 'body') ?? null,
      draft,
      prerelease: body.prerelease === true,
      makeLatest: getText(body, 'make_latest') ?? 'true',
    });
    return replyJson(201, formatRelease(repository, release));
  });
}

/** The name and text of an immutable release can still be changed, its tag can't. */
async function updateRelease(call: ApiCall): Promise<HostReply> {
  const { repository } = call;
  const release = getRelease(call);
  const { body } = call;
  const tag = getText(body, 'tag_name') ?? release.tag;
  return repository.runExclusively(async () => {
    if (tag !== release.tag) assertMutable(release, 'change the tag of');
    release.target = getText(body, 'target_commitish') ?? release.target;
    if (typeof body.prerelease === 'boolean') release.prerelease = body.prerelease;
    release.makeLatest = getText(body, 'make_latest') ?? release.makeLatest;
    if (release.draft && body.draft === false) {
      await claimTag(call, tag, release.target);
      repository.releaseStore.publish(release);
    }
    release.tag = tag;
    release.name = getText(body, 'name') ?? release.name;
    release.body = getText(body, 'body') ?? release.body;
    return replyJson(200, formatRelease(repository, release));
  });
}

async function removeRelease(call: ApiCall): Promise<HostReply> {
  await call.repository.releaseStore.remove(getRelease(call));
  return { status: 204 };
}

function listReleases(call: ApiCall): HostReply {
  const { repository } = call;
  const visible = repository.releaseStore.releases.filter((release) => isVisible(call, release));
  return replyPage(call, visible, (release) => formatRelease(repository, release));
}

function listAssets(call: ApiCall): HostReply {
  const release = getRelease(call);
  return replyPage(call, release.assets, (asset) => formatAsset(call.repository, release, asset));
}

function renameAsset(call: ApiCall): HostReply {
  const { release, asset } = getAsset(call);
  const { body } = call;
  const name = normalizeAssetName(getText(body, 'name') ?? asset.name);
  assertMutable(release, 'update assets of');
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
  assertMutable(release, 'delete assets from');
  await call.repository.releaseStore.removeAsset(release, asset);
  return { status: 204 };
}

function showLatest({ repository }: ApiCall): HostReply {
  return replyJson(200, formatRelease(repository, repository.releaseStore.findLatest() ?? failNotFound()));
}

function showByTag({ repository, parameters }: ApiCall): HostReply {
  const release = repository.releaseStore.findByTag(parameters.tag ?? '') ?? failNotFound();
  return replyJson(200, formatRelease(repository, release));
}

const READ = { contents: 'read' } as const;
const WRITE = { contents: 'write' } as const;

export const RELEASE_ROUTES = [
  createRoute('GET /releases', READ, listReleases),
  createRoute('POST /releases', WRITE, createRelease),
  createRoute('GET /releases/latest', READ, showLatest),
  createRoute('GET /releases/tags/*tag', READ, showByTag),
  createRoute('PATCH /releases/assets/:id', WRITE, renameAsset),
  createRoute('DELETE /releases/assets/:id', WRITE, removeAsset),
  createRoute('GET /releases/:id', READ, (call) =>
    replyJson(200, formatRelease(call.repository, getRelease(call))),
  ),
  createRoute('PATCH /releases/:id', WRITE, updateRelease),
  createRoute('DELETE /releases/:id', WRITE, removeRelease),
  createRoute('GET /releases/:id/assets', READ, listAssets),
];
