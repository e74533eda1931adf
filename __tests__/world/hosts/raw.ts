import { authenticate, type FindRepository } from '../api/host.ts';
import { getMediaType, isTextFile } from '../media-types.ts';
import { decodeComponent, type HostHandler, replyText } from '../server/messages.ts';
import type { TokenStore } from '../tokens.ts';
import { hasPermission } from '../tokens.ts';

/** Simulates raw.githubusercontent.com: the bytes of a branch, never as a page. */
export function createRawHost(find: FindRepository, tokens: TokenStore): HostHandler {
  return async (request) => {
    const [, owner = '', name = '', ...rest] = request.path.split('/').map(decodeComponent);
    const missing = replyText(404, '404: Not Found');
    const repository = find(owner, name);
    if (repository === undefined) return missing;
    const mayRead = () => hasPermission(authenticate(request, tokens)?.contents ?? 'none', 'read');
    if (repository.isPrivate && !mayRead()) return missing;
    // A ref may be written in full: refs/heads/main/…
    const parts = rest[0] === 'refs' ? rest.slice(2) : rest;
    const [ref = '', ...path] = parts;
    const commit = repository.git.resolve(ref);
    const entry = commit === null ? null : repository.git.entryAt(commit, path.join('/'));
    if (entry === null || entry.type !== 'blob') return missing;
    const headers = {
      'cache-control': 'max-age=300',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'content-type': getRawType(entry.path),
    };
    return { status: 200, headers, body: repository.git.readBlob(entry.sha) };
  };
}

/** Everything readable is plain text; pictures keep their type, the rest is just bytes. */
function getRawType(path: string): string {
  const type = getMediaType(path);
  if (isTextFile(path)) return 'text/plain; charset=utf-8';
  return type.startsWith('image/') ? type : 'application/octet-stream';
}
