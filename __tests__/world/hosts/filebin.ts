import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
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

/** The page before a file; it repeats the file's own address. */
const createWarningPage = (
  address: string,
): string => `<!doctype html>\n<html><head><title>Filebin | Please read</title></head>
<body><h1>Please read</h1><p>Filebin does not know who uploaded this file. Do you trust them?</p>
<p><a href="${escapeHtml(address)}">${escapeHtml(address)}</a></p></body></html>\n`;

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

export interface StoredBinFile {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly path: string;
  /** When a file of this name first arrived, even if it was deleted since. */
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** How often it was fetched; each GET that leads to the storage counts. */
  downloads: number;
}

export interface StoredBin {
  readonly id: string;
  readonly createdAt: Date;
  expiresAt: Date;
  locked: boolean;
  /** Whether its files can be downloaded if the server requires approval. */
  approved: boolean;
  readonly files: Map<string, StoredBinFile>;
  /** By their names. */
  readonly deletedFiles: Map<string, StoredBinFile>;
}

class FilebinSettings {
  /** Whether clients other than curl, Wget and VLC get the warning page first. */
  cookieCheck = true;
  /** Whether new bins must be approved by the operator before anything can be downloaded from them. */
  manualApproval = false;
  /** How often one file may be downloaded; null for no limit. */
  downloadLimit: number | null = null;
}

/** Simulates filebin.net; its files' bytes come from the storage host. */
export class FakeFilebin extends FilebinSettings {
  readonly bins = new Map<string, StoredBin>();
  readonly #folder: string;
  readonly #storage: SignedStorage;
  readonly #nextId: () => number;
  readonly #verified = new Set<string>();

  constructor(folder: string, storage: SignedStorage, nextId: () => number) {
    super();
    this.#folder = folder;
    this.#storage = storage;
    this.#nextId = nextId;
  }

  /** The handler of the host, which compresses its own answers for clients that accept it. */
  readonly handler: HostHandler = async (request) => {
    const reply = await this.#answer(request);
    const { headers, body } = reply;
    const isPlain =
      typeof body !== 'string' || body === '' || !/gzip/.test(request.headers['accept-encoding'] ?? '');
    if (isPlain) return reply;
    return { ...reply, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) };
  };

  #answer(request: HostRequest): HostReply | Promise<HostReply> {
    const [, binName = '', ...rest] = request.path.split('/').map(decodeComponent);
    const filename = rest.join('/');
    if (!/^[A-Za-z0-9_-]+$/.test(binName)) return replyText(404, '404 page not found\n');
    if (filename === '') return this.#bin(request, binName);
    switch (request.method) {
      case 'POST':
      case 'PUT':
        return this.#receive(binName, filename, request);
      case 'GET':
        return this.#download(request, binName, filename);
      case 'DELETE':
        return this.#deleteFile(binName, filename);
      default:
        return replyText(405, '');
    }
  }

  /** Sets everything back to what it was at first; the bins stay. */
  reset(): void {
    Object.assign(this, new FilebinSettings());
  }

  /** Approves a bin, as the operator does. */
  approve(bin: string): void {
    this.#existing(bin).approved = true;
  }

  /** Locks a bin, as anybody can; nobody can unlock it. */
  lock(bin: string): void {
    this.#existing(bin).locked = true;
  }

  /** Uploads a file as somebody else: into a new bin or, until it is locked, an existing one. */
  async addFile(bin: string, filename: string, bytes: string | Buffer): Promise<void> {
    const content = Buffer.from(bytes);
    const { status, body } = await this.#receive(bin, filename, {
      headers: { 'content-length': String(content.length) },
      body: Readable.from([content]),
    });
    if (status !== 201) throw new Error(`The bin refused the file: ${status} ${String(body)}`);
  }

  #existing(bin: string): StoredBin {
    const found = this.bins.get(bin);
    if (found === undefined) throw new Error(`There is no bin ${bin}.`);
    return found;
  }

  async #receive(
    binName: string,
    requestedName: string,
    { headers, body }: Pick<HostRequest, 'headers' | 'body'>,
  ): Promise<HostReply> {
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
    // The server fails on a second upload whose name it has to change.
    if (filename !== requestedName && known?.files.has(filename)) return replyText(500, 'Errno 139\n');
    const stored = await storeBody(body, join(this.#folder, `bin-${this.#nextId()}`));
    if ((headers['content-sha256'] ?? stored.sha256) !== stored.sha256) {
      return replyText(400, 'SHA256 checksum did not match\n');
    }
    const { path, size, sha256, head } = stored;
    const now = new Date();
    const about = { filename, contentType: detectContentType(head), size, sha256, path };
    const bin = known ?? this.#open(binName, now);
    const { createdAt = now, downloads = 0 } =
      bin.files.get(filename) ?? bin.deletedFiles.get(filename) ?? {};
    // The real server counts microseconds.
    const updatedAt = createdAt === now ? now : new Date(Math.max(now.getTime(), createdAt.getTime() + 1));
    const uploaded: StoredBinFile = { ...about, createdAt, updatedAt, downloads };
    // The bin is described as it was before this upload.
    bin.expiresAt = new Date(now.getTime() + 7 * DAY);
    const before = formatBin(bin, bin.expiresAt);
    bin.files.set(filename, uploaded);
    return replyJson(201, { bin: before, file: formatFile(uploaded) });
  }

  #open(id: string, now: Date): StoredBin {
    const empty = { files: new Map(), deletedFiles: new Map<string, StoredBinFile>(), locked: false };
    const bin: StoredBin = { ...empty, id, createdAt: now, expiresAt: now, approved: !this.manualApproval };
    this.bins.set(id, bin);
    return bin;
  }

  #download(request: HostRequest, binName: string, filename: string): HostReply {
    const bin = this.bins.get(binName);
    if (bin === undefined) return replyText(404, 'The bin does not exist.\n');
    if (isUnavailable(bin)) return replyText(404, 'This bin is no longer available.\n');
    // As on the real server, a bin without approval does not list its files.
    if (!bin.approved) {
      return replyText(403, 'This bin requires approval before files can be downloaded.\n');
    }
    const found = bin.files.get(filename);
    if (found === undefined) {
      const once = bin.deletedFiles.has(filename);
      return replyText(
        404,
        once ? 'The file is not available for download.\n' : 'The file does not exist.\n',
      );
    }
    // Only files that may be downloaded get the warning page, which does not count as a download.
    if (this.downloadLimit !== null && found.downloads >= this.downloadLimit) {
      return replyText(403, 'The file has been requested too many times.\n');
    }
    const warning = this.#warning(request);
    if (warning !== null) return warning;
    found.downloads += 1;
    const isPage = found.contentType.startsWith('text/html');
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
  #warning({ headers, url }: HostRequest): HostReply | null {
    if (!this.cookieCheck || /curl|Wget|VLC/.test(headers['user-agent'] ?? '')) return null;
    const [, cookie = ''] = /(?:^|;\s*)verified=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    if (this.#verified.has(cookie)) return null;
    const fresh = randomBytes(12).toString('hex');
    this.#verified.add(fresh);
    return replyHtml(200, createWarningPage(url), {
      'set-cookie': `verified=${fresh}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax`,
    });
  }

  #deleteFile(binName: string, filename: string): HostReply {
    const bin = this.bins.get(binName);
    if (bin === undefined) return replyText(404, 'The bin does not exist\n');
    if (isUnavailable(bin)) return replyText(404, 'The bin is no longer available\n');
    const deleted = bin.files.get(filename);
    if (deleted !== undefined) {
      bin.files.delete(filename);
      bin.deletedFiles.set(filename, deleted);
      return replyText(200, 'File deleted successfully\n');
    }
    const once = bin.deletedFiles.has(filename);
    return replyText(404, once ? 'This file is no longer available\n' : 'The file does not exist\n');
  }

  #bin({ method, headers }: HostRequest, binName: string): HostReply {
    const bin = this.bins.get(binName);
    if (method === 'GET' && (bin === undefined || isUnavailable(bin))) {
      const missing = { id: binName, locked: false, files: new Map(), createdAt: NEVER };
      const expiresAt = bin?.expiresAt ?? new Date(Date.now() + 7 * DAY);
      const description = { bin: formatBin(bin ?? missing, expiresAt), files: null };
      return replyJson(bin === undefined ? 200 : 404, description);
    }
    if (bin === undefined) return replyText(404, 'Bin does not exist\n');
    if (isUnavailable(bin)) return replyText(404, 'This bin is no longer available\n');
    switch (method) {
      case 'GET': {
        const files = [...bin.files.values()].map(formatFile);
        // Only this exact Accept header gets JSON.
        if (headers.accept !== 'application/json') return replyHtml(200, `<title>${bin.id}</title>`);
        return replyJson(200, {
          bin: formatBin(bin, bin.expiresAt),
          files: files.length === 0 ? null : files,
        });
      }
      case 'PUT':
        if (bin.locked) return replyText(200, 'This bin is already locked\n');
        bin.locked = true;
        return replyText(200, 'Bin locked successfully.\n');
      default:
        return replyText(405, '');
    }
  }
}

function isUnavailable({ expiresAt }: StoredBin): boolean {
  return expiresAt.getTime() < Date.now();
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

const HTML_START =
  /^\s*(<!doctype html|<html|<head|<body|<script|<iframe|<style|<title|<table|<div|<font|<h1|<p|<a|<br|<b|<!--)[\s>]/i;

/** The server detects the type only from the bytes, not from the client's header or the name. */
function detectContentType(head: Buffer): string {
  const start = head.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  if (HTML_START.test(start)) return 'text/html; charset=utf-8';
  // Control characters that no text has.
  if (head.some((byte) => byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32))) {
    return 'application/octet-stream';
  }
  return isTable(start) ? 'text/csv' : 'text/plain; charset=utf-8';
}

/** Several lines with the same number of columns, two at least. */
function isTable(start: string): boolean {
  const lines = start.split('\n').filter((line) => line.trim() !== '');
  const columns = new Set(lines.map((line) => line.split(',').length));
  return lines.length > 1 && columns.size === 1 && !columns.has(1);
}

/** The server describes a bin that does not exist as an empty one that was never created. */
const NEVER = new Date('0001-01-01T00:00:00Z');

function formatBin(
  { id, locked, files, createdAt }: Pick<StoredBin, 'id' | 'locked' | 'files' | 'createdAt'>,
  expiresAt: Date,
) {
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  const dates = { created_at: createdAt, updated_at: createdAt, expired_at: expiresAt };
  return { id, readonly: locked, bytes, files: files.size, ...dates };
}

/** The real server adds sizes and times in words, and omits how often a file was downloaded. */
function formatFile({ filename, contentType, size, sha256, createdAt, updatedAt }: StoredBinFile) {
  const dates = { created_at: createdAt, updated_at: updatedAt };
  return { filename, 'content-type': contentType, bytes: size, sha256, ...dates };
}
