import { createHash } from 'node:crypto';
import type { Asset } from '../../src/github/api/releases.ts';
import { absent, type CallName, FakeGitHub } from '../github/fake-github.ts';
import { FakeHttp, type Scripted } from '../support/ports.ts';

export const BYTES = 'the very bytes';
export const DOWNLOADS = 'https://github.com/octo/site/releases/download/files-20260102';
export const RELEASE = {
  id: 3,
  upload_url: 'https://uploads.github.com/repos/octo/site/releases/3/assets{?name}',
};

const sha256Of = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
export const digestOf = (bytes: string | Buffer): string => `sha256:${sha256Of(bytes)}`;
export const OWN_DIGEST = digestOf(BYTES);
/** The name under which a replacement waits. */
export const OUTGOING = `outgoing-${sha256Of(BYTES).slice(0, 12)}-a.zip`;
export const INCOMING = `incoming-${sha256Of(BYTES).slice(0, 12)}-a.zip`;

export const asset = (more: Partial<Asset> = {}): Asset => ({
  id: 9,
  name: 'a.zip',
  label: null,
  state: 'uploaded',
  size: BYTES.length,
  digest: null,
  browser_download_url: `${DOWNLOADS}/${more.name ?? 'a.zip'}`,
  ...more,
});

/** The host's answer to an upload that it took. */
export const taken = (more: Partial<Asset> = {}): Scripted => ({
  status: 201,
  body: asset({ digest: OWN_DIGEST, ...more }),
});

/** What becomes of a change instead. */
export type Meddle = (change: Change, nth: number) => Error | Scripted | (() => Error) | undefined;

type Change = Extract<CallName, 'delete_asset' | 'rename_asset'> | 'upload';

/**
 * A release that keeps what is sent to it. `meddle` is asked before each change: an Error or an answer
 * comes instead of the change; a function comes instead of its answer, when it is done.
 */
export class KeptRelease {
  assets: Asset[];
  /** Every change that was made, in order. */
  readonly changes: string[] = [];
  readonly github: FakeGitHub;
  readonly host: FakeHttp;
  readonly #meddle: Meddle;
  readonly #asked: Record<Change, number> = { upload: 0, delete_asset: 0, rename_asset: 0 };

  constructor(assets: readonly Asset[] = [], meddle: Meddle = () => undefined) {
    this.assets = [...assets];
    this.#meddle = meddle;
    this.host = new FakeHttp(({ url, body }) =>
      this.#changing<Scripted | Error>('upload', () =>
        this.#upload(new URL(url).searchParams.get('name') ?? '', body),
      ),
    );
    this.github = new FakeGitHub({
      list_assets: () => [...this.assets],
      delete_asset: ({ asset_id }: { asset_id: number }) =>
        this.#changing('delete_asset', () => this.#delete(asset_id)),
      rename_asset: (to: { asset_id: number; name: string }) =>
        this.#changing('rename_asset', () => this.#rename(to)),
    });
  }

  /** By name, what each asset holds. */
  get held(): [string, string | null | undefined][] {
    return this.assets.map(({ name, digest, state }) => [name, state === 'starter' ? state : digest]);
  }

  #changing<T>(change: Change, work: () => T): T {
    this.#asked[change] += 1;
    const instead = this.#meddle(change, this.#asked[change]);
    if (instead === undefined) return work();
    if (typeof instead !== 'function') return instead as T;
    work();
    return instead() as T;
  }

  #upload(name: string, body: string): Scripted {
    if (this.assets.some((one) => one.name === name)) {
      return { status: 422, body: { message: 'Validation Failed', errors: [{ code: 'already_exists' }] } };
    }
    const kept = asset({
      id: 100 + this.changes.length,
      name,
      digest: digestOf(Buffer.from(body, 'latin1')),
    });
    this.assets.push(kept);
    this.changes.push(`upload ${name}`);
    return { status: 201, body: kept };
  }

  #delete(id: number): unknown {
    const gone = this.assets.find((one) => one.id === id);
    if (gone === undefined) return absent;
    this.assets = this.assets.filter((one) => one !== gone);
    this.changes.push(`delete ${gone.name}`);
    return undefined;
  }

  #rename({ asset_id: id, name }: { asset_id: number; name: string }): unknown {
    const kept = this.assets.find((one) => one.id === id);
    if (kept === undefined) return absent;
    const renamed = { ...kept, name, browser_download_url: `${DOWNLOADS}/${name}` };
    this.assets = this.assets.map((one) => (one === kept ? renamed : one));
    this.changes.push(`rename ${kept.name}`);
    return renamed;
  }
}
