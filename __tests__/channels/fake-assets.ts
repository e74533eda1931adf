import { createHash } from 'node:crypto';
import type { Asset } from '../../src/github/api/releases.ts';
import { absent, type CallName, FakeGitHub } from '../github/fake-github.ts';
import { FakeHttp, type Scripted } from '../support/ports.ts';

export const BYTES = 'bytes of the file';
export const DOWNLOADS = 'https://github.com/octo/site/releases/download/files-20260102';
/** Seven hours before a fake clock starts, by the host's clock. */
export const QUIET = '2026-01-01T20:04:05Z';
export const RELEASE = {
  id: 3,
  tag_name: 'files-20260102',
  name: 'files-20260102',
  draft: false,
  body: null,
  upload_url: 'https://uploads.github.com/repos/octo/site/releases/3/assets{?name}',
};

const sha256For = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
export const digestFor = (bytes: string | Buffer): string => `sha256:${sha256For(bytes)}`;
export const OWN_DIGEST = digestFor(BYTES);
/** The names of a replacement, each run's own, as the tests write them. */
const shortName = (name: string): string => name.replace(/^(incoming|outgoing)-[0-9a-f]{12}-/, '$1-');

export const assetWith = (more: Partial<Asset> = {}): Asset => ({
  id: 9,
  name: 'a.zip',
  label: null,
  state: 'uploaded',
  size: BYTES.length,
  digest: null,
  browser_download_url: `${DOWNLOADS}/${more.name ?? 'a.zip'}`,
  updated_at: '2026-01-02T03:04:05Z',
  ...more,
});

export const starterAsset = (name: string, id: number): Asset =>
  assetWith({ id, name, state: 'starter', size: 0 });

/** What happens to a change instead. */
export type Intercept = (change: Change, nth: number) => Error | Scripted | (() => Error) | undefined;

type Change = Extract<CallName, 'delete_asset' | 'rename_asset'> | 'upload';

/**
 * A release that stores what is sent to it. `intercept` is asked before each change: an Error or an answer
 * replaces the change; a function replaces only its answer, after the change was made.
 */
export class FakeRelease {
  assets: Asset[];
  /** Every change that was made, in order; of interim names without the digits. */
  readonly changes: string[] = [];
  readonly github: FakeGitHub;
  readonly host: FakeHttp;
  readonly #intercept: Intercept;
  readonly #requested: Record<Change, number> = { upload: 0, delete_asset: 0, rename_asset: 0 };

  constructor(assets: readonly Asset[] = [], intercept: Intercept = () => undefined) {
    this.assets = [...assets];
    this.#intercept = intercept;
    this.host = new FakeHttp(({ url, body }) =>
      this.#makeChange<Scripted | Error>('upload', () => this.#upload(new URL(url).searchParams, body)),
    );
    this.github = new FakeGitHub({
      list_assets: () => [...this.assets],
      delete_asset: ({ asset_id }: { asset_id: number }) =>
        this.#makeChange('delete_asset', () => this.#delete(asset_id)),
      rename_asset: (to: { asset_id: number; name: string }) =>
        this.#makeChange('rename_asset', () => this.#rename(to)),
    });
  }

  /** The digest of each asset by its name, or the state of one that is not complete. */
  get contents(): [string, string | null | undefined][] {
    return this.assets.map(({ name, digest, state }) => [
      shortName(name),
      state === 'starter' ? state : digest,
    ]);
  }

  #makeChange<T>(change: Change, work: () => T): T {
    this.#requested[change] += 1;
    const replacement = this.#intercept(change, this.#requested[change]);
    if (replacement === undefined) return work();
    if (typeof replacement !== 'function') return replacement as T;
    work();
    return replacement() as T;
  }

  #upload(query: URLSearchParams, body: string): Scripted {
    const name = query.get('name') ?? '';
    if (this.assets.some((asset) => asset.name === name)) {
      return { status: 422, body: { message: 'Validation Failed', errors: [{ code: 'already_exists' }] } };
    }
    const stored = assetWith({
      id: 100 + this.assets.length + this.changes.length,
      name,
      label: query.get('label'),
      digest: digestFor(Buffer.from(body, 'latin1')),
    });
    this.assets.push(stored);
    this.changes.push(`upload ${shortName(name)}`);
    return { status: 201, body: stored };
  }

  #delete(id: number): unknown {
    const deleted = this.assets.find((asset) => asset.id === id);
    if (deleted === undefined) return absent;
    this.assets = this.assets.filter((asset) => asset !== deleted);
    this.changes.push(`delete ${shortName(deleted.name)}`);
    return undefined;
  }

  #rename({ asset_id: id, name }: { asset_id: number; name: string }): unknown {
    const existing = this.assets.find((asset) => asset.id === id);
    if (existing === undefined) return absent;
    const renamed = { ...existing, name, browser_download_url: `${DOWNLOADS}/${name}` };
    this.assets = this.assets.map((asset) => (asset === existing ? renamed : asset));
    this.changes.push(`rename ${shortName(existing.name)} ${shortName(name)}`);
    return renamed;
  }
}
