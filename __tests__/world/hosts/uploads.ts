import { join } from 'node:path';
import { fail, invalid, notFound } from '../api/errors.ts';
import { authenticate, authorize, type FindRepository } from '../api/host.ts';
import { assertMutable, assetView } from '../api/releases.ts';
import { type Handler, json, Refusal } from '../front/http.ts';
import { storeBody } from '../front/stored-body.ts';
import { assetName } from '../releases.ts';
import type { Tokens } from '../tokens.ts';

const PATH = /^\/repos\/([^/]+)\/([^/]+)\/releases\/(\d+)\/assets$/;
const SIZE_LIMIT = 2 ** 31;

/** Plays uploads.github.com: receives release assets, streamed to disk. */
export function uploadsHost(
  find: FindRepository,
  tokens: Tokens,
  folder: string,
  nextId: () => number,
): Handler {
  const receive: Handler = async (request) => {
    const { headers, query, method } = request;
    const [, owner = '', name = '', id = ''] = PATH.exec(request.path) ?? notFound();
    if (method !== 'POST') notFound();
    const permissions = authenticate(request, tokens);
    const repository = find(owner, name) ?? notFound();
    authorize(permissions, { contents: 'write' }, false);
    if (headers['content-length'] === undefined) fail(411, 'Length Required');
    const release = repository.shelf.byId(Number(id)) ?? notFound();
    const asked = query.get('name') ?? '';
    if (asked === '') invalid({ resource: 'ReleaseAsset', code: 'missing_field', field: 'name' });
    if (Number(headers['content-length']) >= SIZE_LIMIT) {
      const message = `size must be less than or equal to ${SIZE_LIMIT}`;
      invalid({ resource: 'ReleaseAsset', code: 'custom', field: 'size', message });
    }
    const body = await storeBody(request.body, join(folder, `asset-${nextId()}`));
    if (body.size === 0) {
      invalid({ resource: 'ReleaseAsset', code: 'custom', field: 'size', message: 'is empty' });
    }
    assertMutable(repository, 'upload assets to');
    const stored = assetName(asked);
    if (release.assets.some((asset) => asset.name === stored)) {
      invalid({ resource: 'ReleaseAsset', code: 'already_exists', field: 'name' });
    }
    const type = headers['content-type'] ?? 'application/octet-stream';
    const asset = repository.shelf.attach(release, stored, query.get('label'), type, body);
    return json(201, assetView(repository, release, asset));
  };
  return async (request) => {
    try {
      return await receive(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // This host's errors lack the `status` that the API's have.
      const { status: _, ...body } = JSON.parse(String(error.reply.body)) as Record<string, unknown>;
      return json(error.reply.status, { ...body, request_id: `${nextId()}` });
    }
  };
}
