import { createHash } from 'node:crypto';
import { decoded, type Handler, html, type Incoming, type Reply } from '../front/http.ts';
import type { GitStore } from '../git/bare-repository.ts';
import { mediaType } from '../media-types.ts';
import { mayBeTransformed, render } from './jekyll.ts';
import type { PagesSite } from './site.ts';
import type { SiteFile, SiteVersion } from './site-version.ts';

const MAX_AGE_SECONDS = 600;
const NOT_FOUND =
  '<!DOCTYPE html>\n<html><head><title>Site not found &middot; GitHub Pages</title></head>' +
  '<body><h1>404</h1><p><strong>File not found</strong></p></body></html>\n';

/** A file that the CDN has kept, or a 404 it has kept. */
interface Cached {
  readonly until: number;
  /** The commit that was live then. */
  readonly commit: string | null;
  readonly found: Found | null;
}

interface Found {
  readonly version: SiteVersion;
  readonly file: SiteFile;
}

/** Serves one site below a path prefix (`/repo/` or `/`), behind a CDN that keys on path and query. */
export function serveSite(git: GitStore, site: PagesSite): (prefix: string) => Handler {
  const cache = new Map<string, Cached>();
  return (prefix) => async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return html(405, '<h1>405 Not Allowed</h1>');
    const address = decoded(request.path.slice(prefix.length));
    const key = request.url;
    const kept = cache.get(key);
    // Counted also when the CDN answers: a lagging edge lags by requests, whoever answers them.
    const { version, fresh } = site.versionFor(address);
    const purged = site.purges && kept?.commit !== site.liveCommit;
    if (kept !== undefined && kept.until > Date.now() && !purged) {
      return deliver(git, request, kept.found, 'HIT');
    }
    const place = version === null ? null : locate(version, address);
    if (place === 'folder') return moved(request);
    if (fresh && (place !== null || site.caches404)) {
      cache.set(key, { until: Date.now() + MAX_AGE_SECONDS * 1000, commit: site.liveCommit, found: place });
    }
    return deliver(git, request, place, 'MISS');
  };
}

function locate(version: SiteVersion, address: string): Found | 'folder' | null {
  const isFolder = address === '' || address.endsWith('/');
  for (const name of isFolder ? [`${address}index.html`] : [address, `${address}.html`]) {
    const file = version.files.get(name);
    if (file !== undefined) return { version, file };
  }
  return !isFolder && version.files.has(`${address}/index.html`) ? 'folder' : null;
}

async function deliver(
  git: GitStore,
  request: Incoming,
  found: Found | null,
  cache: 'HIT' | 'MISS',
): Promise<Reply> {
  const headers = {
    server: 'GitHub.com',
    'access-control-allow-origin': '*',
    'cache-control': `max-age=${MAX_AGE_SECONDS}`,
    'x-cache': cache,
    via: '1.1 varnish',
    vary: 'Accept-Encoding',
  };
  if (found === null) return html(404, NOT_FOUND, headers);
  const { file, version } = found;
  const etag = `"${createHash('sha1').update(`${version.commit} ${file.sha}`).digest('hex')}"`;
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { ...headers, etag } };
  const body = await content(git, version, file);
  return {
    status: 200,
    headers: {
      ...headers,
      etag,
      'content-type': mediaType(builtName(version, file)),
      'content-length': String(body instanceof Buffer ? body.length : file.size),
    },
    body,
  };
}

async function content(git: GitStore, version: SiteVersion, file: SiteFile) {
  if (!version.builtByJekyll || !mayBeTransformed(file.source)) return git.streamBlob(file.sha);
  return render(file.source, await git.readBlob(file.sha));
}

function builtName({ builtByJekyll }: SiteVersion, { source }: SiteFile): string {
  return builtByJekyll ? source.replace(/\.(md|markdown)$/, '.html') : source;
}

function moved({ url, path }: Incoming): Reply {
  const location = new URL(url);
  location.pathname = `${path}/`;
  return html(301, '<h1>301 Moved Permanently</h1>', { location: location.href });
}
