import type { FindRepository } from '../api/host.ts';
import {
  decodeComponent,
  type HostHandler,
  type HostReply,
  replyFile,
  replyHtml,
  replyRedirect,
} from '../server/messages.ts';
import type { SignedStorage } from '../signed-storage.ts';
import type { FakeDeviceFlow } from './device-flow.ts';
import { type GitServer, isGitRequest } from './git-server.ts';

const DOWNLOAD = /^\/([^/]+)\/([^/]+)\/releases\/download\/([^/]+)\/([^/]+)$/;
const NOT_FOUND = '<!DOCTYPE html>\n<html><head><title>Page not found · GitHub</title></head></html>\n';

interface GithubHandlers {
  readonly find: FindRepository;
  readonly storage: SignedStorage;
  readonly device: FakeDeviceFlow;
  readonly git: GitServer;
}

/** Simulates github.com: release downloads, the device flow, and the git protocol. */
export function createGithubHost({ find, storage, device, git }: GithubHandlers): HostHandler {
  return (request) => {
    if (device.isDeviceFlowRequest(request)) return device.handle(request);
    if (isGitRequest(request)) return git(request);
    return replyDownload(request.path, find, storage);
  };
}

function replyDownload(path: string, find: FindRepository, storage: SignedStorage): HostReply {
  const [, owner = '', name = '', tag = '', assetName = ''] = (DOWNLOAD.exec(path) ?? []).map(
    decodeComponent,
  );
  const repository = find(owner, name);
  // Anonymous readers get no assets of private repositories, and this host ignores tokens.
  const release =
    repository === undefined || repository.isPrivate ? undefined : repository.releaseStore.findByTag(tag);
  const asset = release?.assets.find((candidate) => candidate.name === assetName);
  if (asset === undefined || asset.path === null) return replyHtml(404, NOT_FOUND);
  const { path: stored, size } = asset;
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename=${asset.name}`,
    'accept-ranges': 'bytes',
  };
  const key = `/github-production-release-asset/${repository?.id}/${asset.id}`;
  return replyRedirect(storage.sign(key, () => replyFile(stored, size, headers)));
}
