import { join } from 'node:path';
import { assertPermission } from '../api/call.ts';
import { fail, failInvalid, failNotFound } from '../api/errors.ts';
import { authenticate, type FindRepository } from '../api/host.ts';
import { assertMutable, formatAsset } from '../api/releases.ts';
import { normalizeAssetName } from '../release-store.ts';
import { type HostHandler, replyJson } from '../server/messages.ts';
import { storeBody } from '../server/stored-body.ts';
import type { TokenStore } from '../tokens.ts';

const PATH = /^\/repos\/([^/]+)\/([^/]+)\/releases\/(\d+)\/assets$/;

/** Simulates uploads.github.com: receives release assets, streamed to disk. */
export function createUploadsHost(
  find: FindRepository,
  tokens: TokenStore,
  folder: string,
  nextId: () => number,
): HostHandler {
  return async (request) => {
    const { headers, query, method } = request;
    const [, owner = '', name = '', id = ''] = PATH.exec(request.path) ?? failNotFound();
    if (method !== 'POST') failNotFound();
    const permissions = authenticate(request, tokens);
    const repository = find(owner, name) ?? failNotFound();
    assertPermission(permissions, { contents: 'write' }, false);
    if (headers['content-length'] === undefined) fail(411, 'Length Required');
    const release = repository.releaseStore.findById(Number(id)) ?? failNotFound();
    const body = await storeBody(request.body, join(folder, `asset-${nextId()}`));
    assertMutable(release, 'upload assets to');
    const stored = normalizeAssetName(query.get('name') ?? '');
    if (release.assets.some((asset) => asset.name === stored)) {
      failInvalid({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' });
    }
    const asset = repository.releaseStore.attach(release, stored, {
      state: 'uploaded',
      label: query.get('label'),
      size: body.size,
      digest: `sha256:${body.sha256}`,
      path: body.path,
    });
    return replyJson(201, formatAsset(repository, release, asset));
  };
}
