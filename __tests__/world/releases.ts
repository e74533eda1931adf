import { rm } from 'node:fs/promises';
import type { StoredBody } from './front/stored-body.ts';

/** A file attached to a release. */
export interface Asset {
  readonly id: number;
  name: string;
  label: string | null;
  /** `starter`: an upload that never finished; empty, but its name is taken. */
  readonly state: 'uploaded' | 'starter';
  readonly contentType: string;
  readonly size: number;
  /** `sha256:<hex>`; null for a starter. */
  readonly digest: string | null;
  readonly createdAt: Date;
  updatedAt: Date;
  downloads: number;
  /** Where its bytes lie; null for a starter. */
  readonly path: string | null;
}

/** A release and its assets, in the order of upload. */
export interface Release {
  readonly id: number;
  tag: string;
  readonly target: string;
  name: string | null;
  body: string | null;
  draft: boolean;
  prerelease: boolean;
  readonly createdAt: Date;
  assets: Asset[];
}

/** The releases of one repository; the assets' bytes lie on disk. */
export class ReleaseShelf {
  /** The newest first. */
  readonly releases: Release[] = [];
  /** Immutable releases refuse changes to their assets. */
  immutable = false;
  readonly #nextId: () => number;

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  add(spec: Pick<Release, 'tag' | 'target' | 'name' | 'body' | 'draft' | 'prerelease'>): Release {
    const release: Release = { ...spec, id: this.#nextId(), createdAt: new Date(), assets: [] };
    this.releases.unshift(release);
    return release;
  }

  async remove(release: Release): Promise<void> {
    this.releases.splice(this.releases.indexOf(release), 1);
    for (const asset of release.assets) await discard(asset);
  }

  byId(id: number): Release | undefined {
    return this.releases.find((release) => release.id === id);
  }

  /** Drafts are never found by tag. */
  byTag(tag: string): Release | undefined {
    return this.releases.find((release) => release.tag === tag && !release.draft);
  }

  assetById(id: number): { release: Release; asset: Asset } | undefined {
    for (const release of this.releases) {
      const asset = release.assets.find((candidate) => candidate.id === id);
      if (asset !== undefined) return { release, asset };
    }
    return undefined;
  }

  attach(release: Release, name: string, label: string | null, contentType: string, body: StoredBody): Asset {
    const { path, size, sha256 } = body;
    const kind = { state: 'uploaded', contentType, size, digest: `sha256:${sha256}`, path } as const;
    return this.#put(release, name, label, kind);
  }

  /** What a failed upload leaves behind: nothing but a taken name. */
  attachStarter(release: Release, name: string): Asset {
    const contentType = 'application/octet-stream';
    const kind = { state: 'starter', contentType, size: 0, digest: null, path: null } as const;
    return this.#put(release, name, null, kind);
  }

  async removeAsset(release: Release, asset: Asset): Promise<void> {
    release.assets = release.assets.filter((other) => other !== asset);
    await discard(asset);
  }

  #put(
    release: Release,
    name: string,
    label: string | null,
    kind: Pick<Asset, 'state' | 'contentType' | 'size' | 'digest' | 'path'>,
  ): Asset {
    const now = new Date();
    const asset: Asset = {
      ...kind,
      id: this.#nextId(),
      name,
      label,
      createdAt: now,
      updatedAt: now,
      downloads: 0,
    };
    release.assets.push(asset);
    return asset;
  }
}

async function discard({ path }: Asset): Promise<void> {
  if (path !== null) await rm(path, { force: true });
}

/**
 * The name that GitHub gives to an uploaded asset: only `[A-Za-z0-9-_+@.]` stay, the rest becomes dots,
 * and a name of which nothing stays becomes `default`.
 */
export function assetName(asked: string): string {
  const dotted = asked.replace(/[^A-Za-z0-9\-_+@.]+/g, '.').replace(/\.{2,}/g, '.');
  const ending = /\.[A-Za-z0-9]+$/.exec(dotted)?.[0] ?? '';
  const stem = dotted.slice(0, dotted.length - ending.length).replace(/^\.+|\.+$/g, '');
  return `${stem === '' ? 'default' : stem}${ending}`;
}
