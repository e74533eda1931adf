import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { getMediaType } from '../media-types.ts';
import {
  decodeComponent,
  type HostHandler,
  type HostReply,
  type HostRequest,
  replyFile,
  replyHtml,
  replyJson,
  replyRedirect,
  replyText,
} from '../server/messages.ts';
import { storeBody } from '../server/stored-body.ts';
import type { SignedStorage } from '../signed-storage.ts';

const DAY = 24 * 60 * 60 * 1000;
const NAME_BYTES = 120;
const WARNING_PAGE = `<!doctype html>\n<html><head><title>Please read</title></head>
<body><h1>Please read</h1><p>This file was uploaded by somebody. Do you trust them?</p></body></html>\n`;

/** A file in a bin. */
export interface StoredBinFile {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly md5: string;
  readonly path: string;
  readonly createdAt: Date;
}

/** A bin; deleted bins stay listed, since their names can't be used again. */
export interface StoredBin {
  readonly id: string;
  readonly createdAt: Date;
  expiresAt: Date;
  locked: boolean;
  deleted: boolean;
  readonly files: Map<string, StoredBinFile>;
}

/** What a test may change and read. */
export interface FilebinControls {
  /** Whether clients other than curl, Wget and VLC get the warning page first. */
  cookieCheck: boolean;
  /** Uploads with these endings are refused. */
  forbiddenExtensions: string[];
  readonly bins: ReadonlyMap<string, StoredBin>;
}

/** Simulates filebin.net; its files' bytes come from the storage host. */
export class FakeFilebin implements FilebinControls {
  cookieCheck = true;
  forbiddenExtensions: string[] = [];
  readonly bins = new Map<string, StoredBin>();
  readonly #folder: string;
  readonly #storage: SignedStorage;
  readonly #nextId: () => number;
  readonly #verified = new Set<string>();

  constructor(folder: string, storage: SignedStorage, nextId: () => number) {
    this.#folder = folder;
    this.#storage = storage;
    this.#nextId = nextId;
  }

  /** The handler of the host. */
  readonly handler: HostHandler = (request) => {
    const [, binName = '', ...rest] = request.path.split('/').map(decodeComponent);
    const filename = rest.join('/');
    if (!/^[A-Za-z0-9_-]+$/.test(binName)) return replyText(404, '404 page not found\n');
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
        return replyText(405, '');
    }
  };

  async #upload(request: HostRequest, binName: string, requestedName: string): Promise<HostReply> {
    const { headers } = request;
    if (headers['content-length'] === undefined) {
      return replyText(411, 'Missing or invalid content-length header\n');
    }
    if (headers['content-length'] === '0') return replyText(400, 'Empty file uploads are not allowed\n');
    if (binName.length < 8) return replyText(400, 'the bin is too short\n');
    if (binName.length > 60) return replyText(400, 'the bin is too long\n');
    const known = this.bins.get(binName);
    if (known !== undefined && isUnavailable(known))
      return replyText(405, 'The bin is no longer available\n');
    if (known?.locked) return replyText(405, 'Uploads to locked bins are not allowed\n');
    const filename = normalizeFilename(requestedName);
    if (this.forbiddenExtensions.some((ending) => filename.endsWith(ending))) {
      return replyText(403, 'Illegal file extension\n');
    }
    // The server stumbles over a second upload whose name it has to change.
    if (filename !== requestedName && known?.files.has(filename)) return replyText(500, 'Errno 139\n');
    const stored = await storeBody(request.body, join(this.#folder, `bin-${this.#nextId()}`));
    const md5 = Buffer.from(stored.md5, 'hex').toString('base64');
    if ((headers['content-sha256'] ?? stored.sha256) !== stored.sha256) {
      return replyText(400, 'SHA256 checksum did not match\n');
    }
    if ((headers['content-md5'] ?? md5) !== md5) return replyText(400, 'MD5 checksum did not match\n');
    const { path, size, sha256, head } = stored;
    const now = new Date();
    const uploaded: StoredBinFile = {
      filename,
      contentType: detectContentType(filename, head),
      size,
      sha256,
      md5,
      path,
      createdAt: now,
    };
    const bin = known ?? this.#open(binName, now);
    // The bin is described as it was before this upload.
    const before = { ...formatBin(bin), expired_at: new Date(now.getTime() + 7 * DAY).toISOString() };
    bin.files.set(filename, uploaded);
    bin.expiresAt = new Date(now.getTime() + 7 * DAY);
    return replyJson(201, { bin: before, file: formatFile(uploaded) });
  }

  #open(id: string, now: Date): StoredBin {
    const bin: StoredBin = {
      id,
      createdAt: now,
      expiresAt: now,
      locked: false,
      deleted: false,
      files: new Map(),
    };
    this.bins.set(id, bin);
    return bin;
  }

  #download(request: HostRequest, binName: string, filename: string): HostReply {
    const bin = this.bins.get(binName);
    if (bin === undefined) return replyText(404, 'The bin does not exist.\n');
    if (isUnavailable(bin)) return replyText(404, 'This bin is no longer available.\n');
    const found = bin.files.get(filename);
    if (found === undefined) return replyText(404, 'The file does not exist.\n');
    const warning = this.#warning(request);
    if (warning !== null) return warning;
    const isPage = /^(text\/html|application\/pdf)/.test(found.contentType);
    const headers = {
      'content-type': found.contentType,
      'content-disposition': `${isPage ? 'attachment' : 'inline'}; filename="${encodeURIComponent(filename)}"`,
      'cache-control': 'max-age=60',
    };
    return replyRedirect(
      this.#storage.sign(`/filebin/${bin.id}/${found.sha256}`, () =>
        replyFile(found.path, found.size, headers),
      ),
    );
  }

  /** The warning page, until the request carries the cookie that it sets. */
  #warning({ headers }: HostRequest): HostReply | null {
    if (!this.cookieCheck || /curl|Wget|VLC/.test(headers['user-agent'] ?? '')) return null;
    const [, cookie = ''] = /(?:^|;\s*)verified=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    if (this.#verified.has(cookie)) return null;
    const fresh = randomBytes(12).toString('hex');
    this.#verified.add(fresh);
    return replyHtml(200, WARNING_PAGE, {
      'set-cookie': `verified=${fresh}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax`,
    });
  }

  #deleteFile(binName: string, filename: string): HostReply {
    const bin = this.bins.get(binName);
    if (bin === undefined || isUnavailable(bin)) return replyText(404, 'The bin does not exist.\n');
    return bin.files.delete(filename)
      ? replyText(200, 'File deleted successfully\n')
      : replyText(404, 'The file does not exist.\n');
  }

  #bin({ method, headers }: HostRequest, binName: string): HostReply {
    const bin = this.bins.get(binName);
    if (bin === undefined) return replyText(404, 'The bin does not exist.\n');
    if (isUnavailable(bin)) return replyText(404, 'This bin is no longer available.\n');
    switch (method) {
      case 'GET': {
        const files = [...bin.files.values()].map(formatFile);
        // Only this exact Accept header gets JSON.
        if (headers.accept !== 'application/json') return replyHtml(200, `<title>${bin.id}</title>`);
        return replyJson(200, { bin: formatBin(bin), files });
      }
      case 'PUT':
        bin.locked = true;
        return replyText(200, 'Bin locked successfully.\n');
      case 'DELETE':
        bin.deleted = true;
        bin.files.clear();
        return replyText(200, 'Bin deleted successfully\n');
      default:
        return replyText(405, '');
    }
  }
}

function isUnavailable({ deleted, expiresAt }: StoredBin): boolean {
  return deleted || expiresAt.getTime() < Date.now();
}

/** The name under which the server stores a file. */
function normalizeFilename(requestedName: string): string {
  const base = requestedName.trim().slice(requestedName.trim().lastIndexOf('/') + 1);
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

/** The server detects the type from the bytes, not from the client's header; the name is used only if that fails. */
function detectContentType(filename: string, head: Buffer): string {
  const start = head.toString('latin1');
  if (/^\s*(<!doctype html|<html|<head|<body|<script)/i.test(start)) return 'text/html; charset=utf-8';
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (start.startsWith('\x89PNG')) return 'image/png';
  const byName = getMediaType(filename);
  if (byName.startsWith('text/') || !head.includes(0)) return 'text/plain; charset=utf-8';
  return byName;
}

function formatBin({ id, locked, files, createdAt, expiresAt }: StoredBin) {
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

function formatFile({ filename, contentType, size, sha256, md5, createdAt }: StoredBinFile) {
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
