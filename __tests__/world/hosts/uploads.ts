import { join } from 'node:path';
import { assertPermission } from '../api/call.ts';
import { fail, failInvalid, failNotFound } from '../api/errors.ts';
import { authenticate, type FindRepository } from '../api/host.ts';
import { assertMutable, formatAsset } from '../api/releases.ts';
import { ASSET_COUNT_LIMIT, normalizeAssetName, type StoredRelease } from '../release-store.ts';
import { type HostHandler, ReplyError, replyJson } from '../server/messages.ts';
import { storeBody } from '../server/stored-body.ts';
import type { TokenStore } from '../tokens.ts';

const PATH = /^\/repos\/([^/]+)\/([^/]+)\/releases\/(\d+)\/assets$/;
const SIZE_LIMIT = 2 ** 31;

/** Simulates uploads.github.com: receives release assets, streamed to disk. */
export function createUploadsHost(
  find: FindRepository,
  tokens: TokenStore,
  folder: string,
  nextId: () => number,
): HostHandler {
  const receive: HostHandler = async (request) => {
    const { headers, query, method } = request;
    const [, owner = '', name = '', id = ''] = PATH.exec(request.path) ?? failNotFound();
    if (method !== 'POST') failNotFound();
    const permissions = authenticate(request, tokens);
    const repository = find(owner, name) ?? failNotFound();
    assertPermission(permissions, { contents: 'write' }, false);
    if (headers['content-length'] === undefined) fail(411, 'Length Required');
    const release = repository.releaseStore.findById(Number(id)) ?? failNotFound();
    const requestedName = query.get('name') ?? '';
    if (requestedName === '') failInvalid({ resource: 'ReleaseAsset', code: 'missing_field', field: 'name' });
    if (Number(headers['content-length']) >= SIZE_LIMIT) {
      const message = `size must be less than or equal to ${SIZE_LIMIT}`;
      failInvalid({ resource: 'ReleaseAsset', code: 'custom', field: 'size', message });
    }
    const body = await storeBody(request.body, join(folder, `asset-${nextId()}`));
    if (body.size === 0) {
      failInvalid({ resource: 'ReleaseAsset', code: 'custom', field: 'size', message: 'is empty' });
    }
    assertMutable(release, 'upload assets to');
    assertRoomForAsset(release);
    const stored = normalizeAssetName(requestedName);
    if (release.assets.some((asset) => asset.name === stored)) {
      failInvalid({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' });
    }
    const asset = repository.releaseStore.attach(release, stored, {
      state: 'uploaded',
      label: query.get('label'),
      contentType: headers['content-type'] ?? 'application/octet-stream',
      size: body.size,
      digest: `sha256:${body.sha256}`,
      path: body.path,
    });
    return replyJson(201, formatAsset(repository, release, asset));
  };
  return async (request) => {
    try {
      return await receive(request);
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      // This host's errors lack the `status` that the API's have.
      const { status: _, ...body } = JSON.parse(String(error.reply.body)) as Record<string, unknown>;
      return replyJson(error.reply.status, { ...body, request_id: `${nextId()}` });
    }
  };
}

function assertRoomForAsset({ assets }: StoredRelease): void {
  if (assets.length < ASSET_COUNT_LIMIT) return;
  const message = `file_count limited to ${ASSET_COUNT_LIMIT} assets per release`;
  failInvalid({ resource: 'ReleaseAsset', code: 'custom', field: 'file_count', message });
}
