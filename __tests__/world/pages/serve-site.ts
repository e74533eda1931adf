import { createHash } from 'node:crypto';
import type { GitStore } from '../git/git-store.ts';
import { getMediaType } from '../media-types.ts';
import { decodeComponent, type HostHandler, type HostReply, replyHtml } from '../server/messages.ts';
import type { FakePages } from './fake-pages.ts';
import { renderFile } from './jekyll.ts';
import type { SiteFile, SiteVersion } from './site-version.ts';

const MAX_AGE_SECONDS = 600;
/** GitHub's page if no site is live. */
export const NO_SITE =
  '<!DOCTYPE html>\n<html><head><title>Site not found &middot; GitHub Pages</title></head>' +
  "<body><h1>404</h1><p><strong>There isn't a GitHub Pages site here.</strong></p></body></html>\n";
const NOT_FOUND =
  '<!DOCTYPE html>\n<html><head><title>Page not found &middot; GitHub Pages</title></head>' +
  '<body><h1>404</h1><p><strong>File not found</strong></p></body></html>\n';

/** A file or a 404 in the CDN's cache. */
interface CachedAnswer {
  readonly until: number;
  /** The version that was live then. */
  readonly live: SiteVersion | null;
  readonly found: LocatedFile | null;
}

interface LocatedFile {
  readonly version: SiteVersion;
  readonly file: SiteFile;
  readonly name: string;
}

/** Serves one site below a path prefix (`/repo/` or `/`), behind a CDN that keys on path and query. */
export function serveSite(git: GitStore, site: FakePages): (prefix: string) => HostHandler {
  const cache = new Map<string, CachedAnswer>();
  return (prefix) => async (request) => {
    if (request.method !== 'GET') return replyHtml(405, '<h1>405 Not Allowed</h1>');
    await site.beforeAnswer();
    const address = decodeComponent(request.path.slice(prefix.length));
    const key = request.url;
    const kept = cache.get(key);
    // Counted also when the CDN answers from its cache.
    const { version, fresh } = site.getVersion(address);
    const send = (found: LocatedFile | null, age: number) =>
      sendFile(git, found, { age, isLive: site.liveVersion !== null });
    const purged = site.purges && kept?.live !== site.liveVersion;
    if (kept !== undefined && kept.until > Date.now() && !purged) {
      return send(kept.found, MAX_AGE_SECONDS - Math.ceil((kept.until - Date.now()) / 1000));
    }
    const place = version === null ? null : locateFile(version, address);
    if (fresh && (place !== null || site.caches404)) {
      cache.set(key, { until: Date.now() + MAX_AGE_SECONDS * 1000, live: site.liveVersion, found: place });
    }
    return send(place, 0);
  };
}

function locateFile(version: SiteVersion, address: string): LocatedFile | null {
  const isFolder = address === '' || address.endsWith('/');
  for (const name of isFolder ? [`${address}index.html`] : [address, `${address}.html`]) {
    const file = version.files.get(name);
    if (file !== undefined) return { version, file, name };
  }
  return null;
}

function sendFile(
  git: GitStore,
  found: LocatedFile | null,
  { age, isLive }: { readonly age: number; readonly isLive: boolean },
): HostReply {
  const headers = {
    server: 'GitHub.com',
    'access-control-allow-origin': '*',
    'cache-control': `max-age=${MAX_AGE_SECONDS}`,
    age: String(age),
  };
  if (found === null) return replyHtml(404, isLive ? NOT_FOUND : NO_SITE, headers);
  const { file, name, version } = found;
  const etag = `"${createHash('sha1').update(`${version.commit} ${file.sha}`).digest('hex')}"`;
  const body = readContent(git, file);
  return {
    status: 200,
    headers: {
      ...headers,
      etag,
      'last-modified': version.builtAt.toUTCString(),
      'content-type': getMediaType(name),
      'content-length': String(body.length),
    },
    body,
  };
}

function readContent(git: GitStore, { isRendered, source, sha, bytes }: SiteFile): Buffer {
  const content = bytes ?? git.readBlob(sha);
  return isRendered ? renderFile(source, content) : content;
}
