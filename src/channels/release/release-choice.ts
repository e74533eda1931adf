import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { nullIfNotFound } from '../../github/api/failures.ts';
import {
  type Asset,
  getReleaseByTag,
  type ListedRelease,
  listAssets,
  listReleases,
  type Release,
} from '../../github/api/releases.ts';
import { ASSETS, TAG_ATTEMPTS } from '../../protocol/limits.ts';
import type { PreparedTask } from '../channel.ts';
import { type AssetTask, hasSameContent } from './asset.ts';

/** The files of one step that go to one tag. */
export interface ReleaseBatch {
  readonly github: GitHubClient;
  /** The workflow and job that delivers; empty outside of one. */
  readonly job: string;
  readonly tag: string;
  /** Whether the user named no tag: then another number may be added to it. */
  readonly tagIsDefault: boolean;
  readonly tasks: readonly PreparedTask<AssetTask>[];
}

/** An asset of an immutable release that holds a file's bytes. */
export interface PresentAsset {
  readonly release: Release;
  readonly asset: Asset;
}

/** Where the files of a batch go. */
export interface ReleaseChoice {
  /** The files that an immutable release holds already. */
  readonly present: ReadonlyMap<PreparedTask<AssetTask>, PresentAsset>;
  /** The tag of the release for the others. */
  readonly tag: string;
  /** `null` where it has to be created. */
  readonly release: Release | null;
  readonly assets: readonly Asset[];
  /** Why the others can't be delivered. */
  readonly refusal: DeliveryError | null;
}

const NOTHING_PRESENT = { present: new Map(), assets: [], refusal: null };

/**
 * Chooses the release for the files. Reads, but writes nothing.
 *
 * @param takenTags tags that were found to be taken, although no list shows a release for them
 */
export async function chooseRelease(
  batch: ReleaseBatch,
  takenTags: ReadonlySet<string> = new Set(),
): Promise<ReleaseChoice> {
  const { github, tag, tagIsDefault, tasks } = batch;
  const release = await getReleaseByTag(github, tag);
  if (release === null && !takenTags.has(tag)) return { ...NOTHING_PRESENT, tag, release };
  if (release !== null && release.immutable !== true) {
    return { ...NOTHING_PRESENT, tag, release, assets: await listAssets(github, release) };
  }
  const first = release === null ? [] : [{ ...release, assets: await listAssets(github, release) }];
  if (tagIsDefault) return chooseNumbered(batch, first, takenTags);
  return { ...NOTHING_PRESENT, tag, release, present: findPresent(tasks, first), refusal: frozenError(tag) };
}

/** Of the default tag and its numbered ones: a release that can be changed, else the next free number. */
async function chooseNumbered(
  { github, tag, tasks }: ReleaseBatch,
  first: readonly ListedRelease[],
  takenTags: ReadonlySet<string>,
): Promise<ReleaseChoice> {
  const listed = await listReleases(github);
  const numbered = listed.filter((one) => !one.draft && (getTagNumber(one.tag_name, tag) ?? 1) > 1);
  const published = [...first, ...numbered];
  const present = findPresent(
    tasks,
    published.filter(({ immutable }) => immutable === true),
  );
  const open = numbered.find(({ immutable }) => immutable !== true);
  if (open !== undefined) {
    const assets = await listAssets(github, open);
    return { present, tag: open.tag_name, release: open, assets, refusal: null };
  }
  const tags = [...numbered.map(({ tag_name }) => tag_name), ...takenTags];
  const next = Math.max(1, ...tags.map((taken) => getTagNumber(taken, tag) ?? 1)) + 1;
  const refusal = next > TAG_ATTEMPTS ? noNumberError(tag) : null;
  return { present, tag: `${tag}-${next}`, release: null, assets: [], refusal };
}

function findPresent(
  tasks: readonly PreparedTask<AssetTask>[],
  releases: readonly ListedRelease[],
): ReadonlyMap<PreparedTask<AssetTask>, PresentAsset> {
  const assets = releases.flatMap((release) => release.assets.map((asset) => ({ release, asset })));
  return new Map(
    tasks.flatMap((task) => {
      const { name, file } = task.data;
      const found = assets.find(({ asset }) => asset.name === name && hasSameContent(asset, file, false));
      return found === undefined ? [] : [[task, found] as const];
    }),
  );
}

/** The number of a tag: 1 for the base itself, 2 for `<base>-2`; `null` for any other tag. */
export function getTagNumber(tag: string, base: string): number | null {
  if (tag === base) return 1;
  const [, digits] = /^-([1-9]\d{0,5})$/.exec(tag.startsWith(base) ? tag.slice(base.length) : '') ?? [];
  return digits === undefined || digits === '1' ? null : Number(digits);
}

/**
 * Refuses a tag with the name of a branch: git and GitHub could no longer tell one from the other.
 *
 * @throws {DeliveryError} `BAD_INPUT`
 * @see design 4
 */
export async function refuseBranchName(github: GitHubClient, tag: string): Promise<void> {
  const { rest, repository } = github;
  const branch = await nullIfNotFound(() => rest.git.getRef({ ...repository, ref: `heads/${tag}` }));
  if (branch === null) return;
  throw new DeliveryError('BAD_INPUT', `the tag ${tag} has the name of a branch of this repository`, {
    hint: 'set `tag:` to another name',
    leftBehind: [],
  });
}

/**
 * The files for which the release has no room; GitHub would refuse them one by one. A file that replaces another
 * needs room too: the old one is deleted last.
 */
export function findWithoutRoom(
  { assets }: Pick<ReleaseChoice, 'assets'>,
  tasks: ReleaseBatch['tasks'],
): ReleaseBatch['tasks'] {
  const existing = new Map(assets.map((asset) => [asset.name, asset]));
  const added = tasks.filter(({ data }) => !existing.has(data.name));
  const replacing = tasks.filter(({ data: { name, file, overwrite } }) => {
    const asset = existing.get(name);
    return overwrite && asset !== undefined && !hasSameContent(asset, file, false);
  });
  const hasRoom = assets.length + added.length <= ASSETS.total;
  const count = assets.length + (hasRoom ? added.length : 0);
  return [...(hasRoom ? [] : added), ...(count < ASSETS.total ? [] : replacing)];
}

export function noRoomError(tag: string, existing: number): DeliveryError {
  const message = `the release ${tag} has ${existing} assets, and GitHub allows ${ASSETS.total}, also while one is replaced`;
  return new DeliveryError('TOO_LARGE', message, {
    hint: 'set `tag:` to another one, or use channel: K3',
    leftBehind: [],
  });
}

function frozenError(tag: string): DeliveryError {
  const message = `the release ${tag} is immutable: nobody can add a file to it or replace one`;
  return new DeliveryError('FORBIDDEN_BY_RULE', message, {
    hint: 'set `tag:` to another one, leave it out for a numbered tag of today, or use channel: K3',
    leftBehind: [],
  });
}

function noNumberError(tag: string): DeliveryError {
  return new DeliveryError('FORBIDDEN_BY_RULE', `all tags from ${tag} to ${tag}-${TAG_ATTEMPTS} are taken`, {
    hint: 'set `tag:` to another one, or use channel: K3',
    leftBehind: [],
  });
}
