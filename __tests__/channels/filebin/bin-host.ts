import { createFilebinPublisher } from '../../../src/channels/filebin/publish.ts';
import { createFilebinRemover } from '../../../src/channels/filebin/remove.ts';
import type { BinOptions } from '../../../src/channels/filebin/store-file.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../../support/ports.ts';

export const BIN = 'sv1767323045-abc';
export const ADDRESS = `https://filebin.net/${BIN}`;
export const CONTENT = '<p>hello</p>';
export const EXPIRY = '2026-01-09T03:04:05Z';
export const PAGE: Scripted = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>' };
export const NO_BIN: Scripted = { status: 404, body: 'The bin does not exist.' };
export const RECORD = {
  bin: { id: BIN, expired_at: EXPIRY },
  file: {
    filename: 'page.html',
    'content-type': 'text/html; charset=utf-8',
    created_at: '2026-01-02T03:04:05.678901Z',
    updated_at: '2026-01-02T03:04:05.678901Z',
  },
};
export const CREATED: Scripted = { status: 201, body: RECORD };

/** A bin's list, from each file's content by name. */
export async function listOf(contents: Readonly<Record<string, string>>, more = {}): Promise<Scripted> {
  const listed = Object.entries(contents).map(async ([filename, bytes]) => {
    const { sha256 } = await localFile(bytes);
    return { filename, sha256 };
  });
  const files = await Promise.all(listed);
  return { body: { bin: { id: BIN, expired_at: EXPIRY, readonly: false, ...more }, files } };
}

/** Consecutive answers to one kind of request; the last answer repeats. */
type Answers = Scripted | Error | readonly (Scripted | Error)[];

export interface BinSetup extends Partial<BinOptions> {
  readonly list?: Answers;
  readonly post?: Answers;
  readonly put?: Answers;
  readonly remove?: Answers;
}

/** K3 with a scripted bin host, which by default accepts every file and locks every bin. */
export function openBin(setup: BinSetup = {}) {
  const { list: GET = NO_BIN, post: POST = CREATED, put: PUT = {}, remove: DELETE = {}, ...more } = setup;
  const answers: Readonly<Record<string, Answers>> = { GET, POST, PUT, DELETE };
  const kinds: string[] = [];
  const host = new FakeHttp(({ method, url }: Seen) => {
    // The host may count downloads.
    const kind = method === 'GET' && !url.endsWith(BIN) ? 'DOWNLOAD' : method;
    kinds.push(kind);
    const own = [answers[kind] ?? []].flat();
    return own[Math.min(kinds.filter((one) => one === kind).length, own.length) - 1];
  });
  const ports = fakePorts(host.http);
  const binHostUrl = new URL('https://filebin.net');
  const options = { binHostUrl, bin: BIN, binIsNew: true, overwrite: false, ...more };
  return {
    host,
    ports,
    publisher: createFilebinPublisher(options, ports),
    remover: createFilebinRemover(options, ports),
    /** The kinds of the requests, in order, such as `GET POST PUT`. */
    kinds: () => kinds.join(' '),
  };
}
