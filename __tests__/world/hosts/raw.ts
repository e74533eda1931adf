import { authenticate, type FindRepository } from '../api/host.ts';
import { decoded, type Handler, text } from '../front/http.ts';
import { isText, mediaType } from '../media-types.ts';
import type { Tokens } from '../tokens.ts';
import { covers } from '../tokens.ts';

/** Plays raw.githubusercontent.com: a branch's bytes, never shown as a page. */
export function rawHost(find: FindRepository, tokens: Tokens): Handler {
  return async (request) => {
    const [, owner = '', name = '', ...rest] = request.path.split('/').map(decoded);
    const missing = text(404, '404: Not Found');
    const repository = find(owner, name);
    if (repository === undefined) return missing;
    const mayRead = () => covers(authenticate(request, tokens)?.contents ?? 'none', 'read');
    if (repository.isPrivate && !mayRead()) return missing;
    // A ref may be written in full: refs/heads/main/…
    const parts = rest[0] === 'refs' ? rest.slice(2) : rest;
    const [ref = '', ...path] = parts;
    const commit = await repository.git.resolve(ref);
    const entry = commit === null ? null : await repository.git.entryAt(commit, path.join('/'));
    if (entry === null || entry.type !== 'blob') return missing;
    const etag = `"${entry.sha}"`;
    const headers = {
      'cache-control': 'max-age=300',
      etag,
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    };
    if (request.headers['if-none-match'] === etag) return { status: 304, headers };
    return {
      status: 200,
      headers: { ...headers, 'content-type': rawType(entry.path), 'content-length': String(entry.size) },
      body: repository.git.streamBlob(entry.sha),
    };
  };
}

/** Everything readable is plain text; pictures keep their type, the rest is just bytes. */
function rawType(path: string): string {
  const type = mediaType(path);
  if (isText(path)) return 'text/plain; charset=utf-8';
  return type.startsWith('image/') ? type : 'application/octet-stream';
}
