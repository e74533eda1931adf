import { rm } from 'node:fs/promises';

export interface StoredAsset {
  readonly id: number;
  name: string;
  label: string | null;
  /** `starter`: an upload that never finished; empty, but its name is taken. */
  readonly state: 'uploaded' | 'starter';
  readonly size: number;
  /** `sha256:<hex>`; null for a starter. */
  readonly digest: string | null;
  updatedAt: Date;
  /** Path of its bytes; null for a starter, or one without bytes. */
  readonly path: string | null;
}

/** A release and its assets, in the order of upload. */
export interface StoredRelease {
  readonly id: number;
  tag: string;
  /** A branch or a commit; only a new tag is made there. */
  target: string;
  name: string | null;
  body: string | null;
  draft: boolean;
  prerelease: boolean;
  /** `make_latest` of its publication: `true`, `false` or `legacy`. */
  makeLatest: string;
  readonly createdAt: Date;
  /** Null for a draft. */
  publishedAt: Date | null;
  /** Frozen, because it was published while the repository's releases were immutable. */
  immutable: boolean;
  assets: StoredAsset[];
}

type NewRelease = Pick<StoredRelease, 'tag' | 'target' | 'name' | 'body' | 'draft' | 'prerelease'> &
  Partial<Pick<StoredRelease, 'makeLatest'>>;

/** The releases of one repository; the assets' bytes are on disk. */
export class ReleaseStore {
  /** The newest first. */
  readonly releases: StoredRelease[] = [];
  /** Whether a release is frozen when it is published; earlier ones stay as they are. */
  freezesPublished = false;
  /** Tags of deleted immutable releases: no release and no ref can have their names again. */
  readonly #burnedTags = new Set<string>();
  readonly #nextId: () => number;

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  add(spec: NewRelease): StoredRelease {
    const start = { makeLatest: 'true', createdAt: new Date(), publishedAt: null };
    const release: StoredRelease = { ...start, ...spec, id: this.#nextId(), immutable: false, assets: [] };
    this.releases.unshift(release);
    if (!spec.draft) this.publish(release);
    return release;
  }

  /** Ends a release's time as a draft. */
  publish(release: StoredRelease): void {
    release.draft = false;
    release.publishedAt = new Date();
    release.immutable = this.freezesPublished;
  }

  /**
   * The release at `/releases/latest`: the last one published with `true`, else of those with `legacy` the one with the
   * higher version, and of others the newer. Drafts and prereleases never are.
   */
  findLatest(): StoredRelease | undefined {
    const inOrder = this.releases
      .filter(({ draft, prerelease }) => !draft && !prerelease)
      .sort((one, other) => Number(one.publishedAt) - Number(other.publishedAt));
    const named = inOrder.findLast(({ makeLatest }) => makeLatest === 'true');
    const others = inOrder.filter(({ makeLatest }) => makeLatest === 'legacy');
    return named ?? others.reduce<StoredRelease | undefined>(newerOf, undefined);
  }

  /** Whether the name of a tag belonged to an immutable release that was deleted. */
  isBurned(tag: string): boolean {
    return this.#burnedTags.has(tag);
  }

  async remove(release: StoredRelease): Promise<void> {
    if (release.immutable) this.#burnedTags.add(release.tag);
    this.releases.splice(this.releases.indexOf(release), 1);
    for (const asset of release.assets) await deleteBytes(asset);
  }

  findById(id: number): StoredRelease | undefined {
    return this.releases.find((release) => release.id === id);
  }

  /** Drafts are never found by tag. */
  findByTag(tag: string): StoredRelease | undefined {
    return this.releases.find((release) => release.tag === tag && !release.draft);
  }

  findAssetById(id: number): { release: StoredRelease; asset: StoredAsset } | undefined {
    const all = this.releases.flatMap((release) => release.assets.map((asset) => ({ release, asset })));
    return all.find(({ asset }) => asset.id === id);
  }

  /** Adds an asset; by default only a name, as a failed upload leaves behind. */
  attach(release: StoredRelease, name: string, more: Partial<StoredAsset> = {}): StoredAsset {
    const asset: StoredAsset = {
      label: null,
      state: 'starter',
      size: 0,
      digest: null,
      path: null,
      ...more,
      id: this.#nextId(),
      name,
      updatedAt: new Date(),
    };
    release.assets.push(asset);
    return asset;
  }

  async removeAsset(release: StoredRelease, asset: StoredAsset): Promise<void> {
    release.assets = release.assets.filter((other) => other !== asset);
    await deleteBytes(asset);
  }
}

function newerOf(one: StoredRelease | undefined, other: StoredRelease): StoredRelease {
  const versions = [one?.tag, other.tag].map((tag) => /^v?(\d+\.\d+\.\d+)$/.exec(tag ?? '')?.[1]);
  const [before, after] = versions;
  const isLower = before && after && after.localeCompare(before, 'en', { numeric: true }) < 0;
  return one !== undefined && isLower ? one : other;
}

async function deleteBytes({ path }: StoredAsset): Promise<void> {
  if (path !== null) await rm(path, { force: true });
}

/** GitHub's name for an asset: dots for all but `[A-Za-z0-9-_+@.]`, and `default` if nothing stays. */
export function normalizeAssetName(requestedName: string): string {
  const dotted = requestedName.replace(/[^A-Za-z0-9\-_+@.]+/g, '.').replace(/\.{2,}/g, '.');
  const ending = /\.[A-Za-z0-9]+$/.exec(dotted)?.[0] ?? '';
  const stem = dotted.slice(0, dotted.length - ending.length).replace(/^\.+|\.+$/g, '');
  return `${stem === '' ? 'default' : stem}${ending}`;
}
