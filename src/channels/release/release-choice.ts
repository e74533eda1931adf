import { DeliveryError, followingError, type Result } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { dataOrNull } from '../../github/api/failures.ts';
import {
  type Asset,
  getReleaseByTag,
  listAssets,
  listPublicAssets,
  listReleases,
  type Release,
} from '../../github/api/releases.ts';
import { TAG_ATTEMPTS } from '../../protocol/limits.ts';
import type { Text } from '../../words.ts';
import type { FailedFile } from '../channel.ts';
import { type AssetTask, hasDigestOf, type PlacedAsset, type PlacedFiles } from './asset.ts';

export interface ReleaseOptions {
  readonly tag: string;
  /** Whether the user named no tag: then another number may be added to it. */
  readonly tagIsDefault: boolean;
  readonly overwrite: boolean;
  /** As the label names it; without `overwrite` only its assets are deleted. */
  readonly soleDeliverer?: string | undefined;
  /** Milliseconds that another job's upload or release is waited for. */
  readonly timeout: number;
  /** The workflow and job that delivers; empty outside of one. */
  readonly job: string;
  /** Where a named tag is made if it is new; absent for the head of the default branch. */
  readonly commit?: string | undefined;
}

/** The files of one step that go to one tag. */
export interface ReleaseBatch extends ReleaseOptions {
  readonly github: GitHubClient;
  readonly tasks: readonly AssetTask[];
  /** A file of the step that failed before: then no release is made for the others. */
  readonly absent: FailedFile | undefined;
}

/** The release that the files of a batch go to, and what it holds. */
interface ReleaseChoice {
  readonly tag: string;
  /** `null` where it has to be created. */
  readonly release: Release | null;
  readonly assets: readonly Asset[];
  /** What releases of the tag, or of a number of it, hold that can't be changed. */
  readonly frozen: readonly PlacedAsset[];
  /** The files that a frozen release holds already, and those that can't be delivered. */
  readonly settled: PlacedFiles;
  readonly pending: readonly AssetTask[];
}

type FoundRelease = Omit<ReleaseChoice, 'settled' | 'pending'>;

/**
 * Chooses the release for the files. Writes nothing.
 *
 * @param takenTags tags that are taken, although no list shows a release for them
 * @param isAgain whether the tag without a number was taken: the release that was first is there by now
 * @throws {DeliveryError} `BAD_INPUT` where a branch has the name of the tag, `CONFLICT` where no list shows it yet
 */
export async function chooseRelease(
  batch: ReleaseBatch,
  takenTags: ReadonlySet<string> = new Set(),
  isAgain = false,
): Promise<ReleaseChoice> {
  const found = await findRelease(batch, takenTags);
  const { frozen, tag } = found;
  const refusal = findRefusal(found, batch);
  const settled = new Map<AssetTask, Result<PlacedAsset>>();
  for (const task of batch.tasks) {
    const present = frozen.find(({ asset }) => asset.name === task.name && hasDigestOf(asset, task.file));
    const result = present ?? refusal;
    if (result !== null) settled.set(task, result);
  }
  const pending = batch.tasks.filter((task) => !settled.has(task));
  const { rest, repository } = batch.github;
  // Git and GitHub could no longer tell one from the other.
  if (pending.length > 0 && (await dataOrNull(rest.git.getRef({ ...repository, ref: `heads/${tag}` })))) {
    throw new DeliveryError('BAD_INPUT', `the tag ${tag} has the same name as a branch of this repository`, {
      hint: (w) => `set ${w.input('tag')} to another name`,
      leftBehind: [],
    });
  }
  if (isAgain && found.release === null && settled.size === 0 && tag === batch.tag) {
    throw new DeliveryError('CONFLICT', `another job is publishing the release ${tag}`, {
      hint: (w) => `try again, or set ${w.input('tag')} to another tag`,
      retryable: true,
    });
  }
  return { ...found, settled, pending };
}

/** The tag's release. Of a default tag that is taken: a numbered one that can be changed, or the next free number. */
async function findRelease({ github, tag, tagIsDefault }: ReleaseBatch, takenTags: ReadonlySet<string>) {
  const release = await getReleaseByTag(github, tag);
  const assets = release === null ? [] : await listAssets(github, release);
  const isOpen = release === null ? !takenTags.has(tag) : release.immutable !== true;
  const toPlaced = (release: Release) => (asset: Asset) => ({ release, asset, written: false });
  const frozen = release === null || isOpen ? [] : assets.map(toPlaced(release));
  if (isOpen || !tagIsDefault) return { tag, release, assets, frozen };
  const releases = await listReleases(github);
  const numbered = releases.filter(
    (candidate) => !candidate.draft && getTagNumber(candidate.tag_name, tag) > 1,
  );
  for (const candidate of numbered.filter(({ immutable }) => immutable === true)) {
    frozen.push(...(await listPublicAssets(github, candidate)).map(toPlaced(candidate)));
  }
  const changeable = numbered.find(({ immutable }) => immutable !== true);
  if (changeable !== undefined) {
    return {
      tag: changeable.tag_name,
      release: changeable,
      assets: await listAssets(github, changeable),
      frozen,
    };
  }
  const tags = [...numbered.map(({ tag_name }) => tag_name), ...takenTags];
  const last = Math.max(1, ...tags.map((taken) => getTagNumber(taken, tag)));
  return { tag: `${tag}-${last + 1}`, release: null, assets: [], frozen };
}

/** The number of a tag: 2 for `<base>-2`; 0 for any other tag. */
function getTagNumber(tag: string, base: string): number {
  const [, digits = '0'] = /^-([1-9]\d{0,5})$/.exec(tag.startsWith(base) ? tag.slice(base.length) : '') ?? [];
  return Number(digits);
}

function findRefusal({ tag, release }: FoundRelease, batch: ReleaseBatch): DeliveryError | null {
  const refuse = (message: string, hint: Text): DeliveryError =>
    new DeliveryError('FORBIDDEN_BY_RULE', message, { hint, leftBehind: [] });
  if (release?.immutable === true) {
    return refuse(
      `the release ${tag} is immutable: its files can't be added to or replaced`,
      (w) => `leave ${w.input('tag')} out${w.orUse('K3')}`,
    );
  }
  if (getTagNumber(tag, batch.tag) > TAG_ATTEMPTS) {
    return refuse(
      `all tags from ${batch.tag} to ${batch.tag}-${TAG_ATTEMPTS} are taken`,
      (w) => `set ${w.input('tag')} to another tag${w.orUse('K3')}`,
    );
  }
  return release === null && batch.absent !== undefined ? unpublishedError(batch.absent) : null;
}

/** A release is published with all files of the step, or not at all. */
export const unpublishedError = ({ subject, failure }: FailedFile): DeliveryError =>
  followingError('the release was not published', subject, failure);
