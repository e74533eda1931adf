import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  decoded,
  file,
  type Handler,
  html,
  type Incoming,
  json,
  type Reply,
  redirect,
  text,
} from '../front/http.ts';
import { storeBody } from '../front/stored-body.ts';
import { mediaType } from '../media-types.ts';
import type { SignedStorage } from '../signed-storage.ts';

const DAY = 24 * 60 * 60 * 1000;
const NAME_BYTES = 120;
const WARNING_PAGE = `<!doctype html>\n<html><head><title>Please read</title></head>
<body><h1>Please read</h1><p>This file was uploaded by somebody. Do you trust them?</p></body></html>\n`;

/** A file in a bin. */
export interface BinFile {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly md5: string;
  readonly path: string;
  readonly createdAt: Date;
}

/** A bin; deleted ones are kept, since their names are never usable again. */
export interface Bin {
  readonly id: string;
  readonly createdAt: Date;
  expiresAt: Date;
  locked: boolean;
  deleted: boolean;
  readonly files: Map<string, BinFile>;
}

/** What a test may change and look at. */
export interface FilebinControls {
  /** Whether browsers and programs other than curl, Wget and VLC meet the warning page first. */
  cookieCheck: boolean;
  /** Uploads with these endings are refused. */
  forbiddenExtensions: string[];
  readonly bins: ReadonlyMap<string, Bin>;
}

/** Plays filebin.net; its files' bytes come from the storage host. */
export class Filebin implements FilebinControls {
  cookieCheck = true;
  forbiddenExtensions: string[] = [];
  readonly bins = new Map<string, Bin>();
  readonly #folder: string;
  readonly #storage: SignedStorage;
  readonly #nextId: () => number;
  readonly #verified = new Set<string>();

  constructor(folder: string, storage: SignedStorage, nextId: () => number) {
    this.#folder = folder;
    this.#storage = storage;
    this.#nextId = nextId;
  }

  /** Plays the host. */
  readonly handler: Handler = (request) => {
    const [, binName = '', ...rest] = request.path.split('/').map(decoded);
    const filename = rest.join('/');
    if (!/^[A-Za-z0-9_-]+$/.test(binName)) return text(404, '404 page not found\n');
    if (filename === '') return this.#bin(request, binName);
    switch (request.method) {
      case 'POST':
      case 'PUT':
        return this.#upload(request, binName, filename);
      case 'GET':
        return this.#download(request, binName, filename);
      case 'DELETE':
        return this.#deleteFile(binName, filename);
      default:
        return text(405, '');
    }
  };

  async #upload(request: Incoming, binName: string, asked: string): Promise<Reply> {
    const { headers } = request;
    if (headers['content-length'] === undefined) {
      return text(411, 'Missing or invalid content-length header\n');
    }
    if (headers['content-length'] === '0') return text(400, 'Empty file uploads are not allowed\n');
    if (binName.length < 8) return text(400, 'the bin is too short\n');
    if (binName.length > 60) return text(400, 'the bin is too long\n');
    const known = this.bins.get(binName);
    if (known !== undefined && isGone(known)) return text(405, 'The bin is no longer available\n');
    if (known?.locked) return text(405, 'Uploads to locked bins are not allowed\n');
    const filename = storedName(asked);
    if (this.forbiddenExtensions.some((ending) => filename.endsWith(ending))) {
      return text(403, 'Illegal file extension\n');
    }
    // The server stumbles over a second upload whose name it has to change.
    if (filename !== asked && known?.files.has(filename)) return text(500, 'Errno 139\n');
    const stored = await storeBody(request.body, join(this.#folder, `bin-${this.#nextId()}`));
    const md5 = Buffer.from(stored.md5, 'hex').toString('base64');
    if ((headers['content-sha256'] ?? stored.sha256) !== stored.sha256) {
      return text(400, 'SHA256 checksum did not match\n');
    }
    if ((headers['content-md5'] ?? md5) !== md5) return text(400, 'MD5 checksum did not match\n');
    const { path, size, sha256, head } = stored;
    const now = new Date();
    const uploaded: BinFile = {
      filename,
      contentType: sniff(filename, head),
      size,
      sha256,
      md5,
      path,
      createdAt: now,
    };
    const bin = known ?? this.#open(binName, now);
    // The bin is described as it was before this upload.
    const before = { ...binView(bin), expired_at: new Date(now.getTime() + 7 * DAY).toISOString() };
    bin.files.set(filename, uploaded);
    bin.expiresAt = new Date(now.getTime() + 7 * DAY);
    return json(201, { bin: before, file: fileView(uploaded) });
  }

  #open(id: string, now: Date): Bin {
    const bin: Bin = { id, createdAt: now, expiresAt: now, locked: false, deleted: false, files: new Map() };
    this.bins.set(id, bin);
    return bin;
  }

  #download(request: Incoming, binName: string, filename: string): Reply {
    const bin = this.bins.get(binName);
    if (bin === undefined) return text(404, 'The bin does not exist.\n');
    if (isGone(bin)) return text(404, 'This bin is no longer available.\n');
    const found = bin.files.get(filename);
    if (found === undefined) return text(404, 'The file does not exist.\n');
    const warning = this.#warning(request);
    if (warning !== null) return warning;
    const isPage = /^(text\/html|application\/pdf)/.test(found.contentType);
    const headers = {
      'content-type': found.contentType,
      'content-disposition': `${isPage ? 'attachment' : 'inline'}; filename="${encodeURIComponent(filename)}"`,
      'cache-control': 'max-age=60',
    };
    return redirect(
      this.#storage.sign(`/filebin/${bin.id}/${found.sha256}`, () => file(found.path, found.size, headers)),
    );
  }

  /** The page that stands before a file until the cookie it sets comes back. */
  #warning({ headers }: Incoming): Reply | null {
    if (!this.cookieCheck || /curl|Wget|VLC/.test(headers['user-agent'] ?? '')) return null;
    const [, cookie = ''] = /(?:^|;\s*)verified=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    if (this.#verified.has(cookie)) return null;
    const fresh = randomBytes(12).toString('hex');
    this.#verified.add(fresh);
    return html(200, WARNING_PAGE, {
      'set-cookie': `verified=${fresh}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax`,
    });
  }

  #deleteFile(binName: string, filename: string): Reply {
    const bin = this.bins.get(binName);
    if (bin === undefined || isGone(bin)) return text(404, 'The bin does not exist.\n');
    return bin.files.delete(filename)
      ? text(200, 'File deleted successfully\n')
      : text(404, 'The file does not exist.\n');
  }

  #bin({ method, headers }: Incoming, binName: string): Reply {
    const bin = this.bins.get(binName);
    if (bin === undefined) return text(404, 'The bin does not exist.\n');
    if (isGone(bin)) return text(404, 'This bin is no longer available.\n');
    switch (method) {
      case 'GET': {
        const files = [...bin.files.values()].map(fileView);
        // Only this exact Accept header gets JSON.
        if (headers.accept !== 'application/json') return html(200, `<title>${bin.id}</title>`);
        return json(200, { bin: binView(bin), files });
      }
      case 'PUT':
        bin.locked = true;
        return text(200, 'Bin locked successfully.\n');
      case 'DELETE':
        bin.deleted = true;
        bin.files.clear();
        return text(200, 'Bin deleted successfully\n');
      default:
        return text(405, '');
    }
  }
}

function isGone({ deleted, expiresAt }: Bin): boolean {
  return deleted || expiresAt.getTime() < Date.now();
}

/** The name that the server gives to a file. */
function storedName(asked: string): string {
  const base = asked.trim().slice(asked.trim().lastIndexOf('/') + 1);
  const clean = base
    .replace(/[^\p{L}\p{Nd}\-_=+,.()[\] ]/gu, '_')
    .replace(/ {2,}/g, ' ')
    .replace(/^\./, '_');
  let cut = '';
  for (const rune of clean) {
    if (Buffer.byteLength(cut + rune) > NAME_BYTES) break;
    cut += rune;
  }
  return cut;
}

/** The server looks at the bytes, whatever the client said; names help only where bytes don't tell. */
function sniff(filename: string, head: Buffer): string {
  const start = head.toString('latin1');
  if (/^\s*(<!doctype html|<html|<head|<body|<script)/i.test(start)) return 'text/html; charset=utf-8';
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (start.startsWith('\x89PNG')) return 'image/png';
  const byName = mediaType(filename);
  if (byName.startsWith('text/') || !head.includes(0)) return 'text/plain; charset=utf-8';
  return byName;
}

function binView({ id, locked, files, createdAt, expiresAt }: Bin) {
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    id,
    readonly: locked,
    bytes,
    files: files.size,
    created_at: createdAt.toISOString(),
    updated_at: createdAt.toISOString(),
    expired_at: expiresAt.toISOString(),
  };
}

function fileView({ filename, contentType, size, sha256, md5, createdAt }: BinFile) {
  return {
    filename,
    'content-type': contentType,
    bytes: size,
    md5,
    sha256,
    created_at: createdAt.toISOString(),
    updated_at: createdAt.toISOString(),
  };
}
