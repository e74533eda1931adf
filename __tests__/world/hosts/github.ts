import type { FindRepository } from '../api/host.ts';
import { decoded, file, type Handler, html, type Reply, redirect } from '../front/http.ts';
import type { SignedStorage } from '../signed-storage.ts';
import type { DeviceFlow } from './device-flow.ts';
import { type GitServer, isGitRequest } from './git-server.ts';

const DOWNLOAD = /^\/([^/]+)\/([^/]+)\/releases\/download\/([^/]+)\/([^/]+)$/;
const NOT_FOUND = '<!DOCTYPE html>\n<html><head><title>Page not found · GitHub</title></head></html>\n';

interface Parts {
  readonly find: FindRepository;
  readonly storage: SignedStorage;
  readonly device: DeviceFlow;
  readonly git: GitServer;
}

/** Plays github.com: release downloads, the device flow, and git's own protocol. */
export function githubHost({ find, storage, device, git }: Parts): Handler {
  return (request) => {
    if (device.owns(request)) return device.handle(request);
    if (isGitRequest(request)) return git(request);
    return download(request.path, find, storage);
  };
}

function download(path: string, find: FindRepository, storage: SignedStorage): Reply {
  const [, owner = '', name = '', tag = '', assetName = ''] = (DOWNLOAD.exec(path) ?? []).map(decoded);
  const repository = find(owner, name);
  // Private repositories' assets are not for anonymous readers; a token does not help on this host.
  const release = repository === undefined || repository.isPrivate ? undefined : repository.shelf.byTag(tag);
  const asset = release?.assets.find((candidate) => candidate.name === assetName);
  if (asset === undefined || asset.path === null) return html(404, NOT_FOUND);
  const { path: stored, size } = asset;
  asset.downloads += 1;
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename=${asset.name}`,
    'accept-ranges': 'bytes',
  };
  const key = `/github-production-release-asset/${repository?.id}/${asset.id}`;
  return redirect(storage.sign(key, () => file(stored, size, headers)));
}
