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
import { type AssetTask, hasDigestOf, type PlacedAsset } from './asset.ts';

export interface ReleaseOptions {
  readonly tag: string;
  /** Whether the user named no tag, so that a number may be added. */
  readonly tagIsDefault: boolean;
  readonly overwrite: boolean;
  /** The deliverer in the label. Without `overwrite`, only its assets are deleted. */
  readonly soleDeliverer?: string | undefined;
  readonly path?: string | undefined;
  /** Its last part also tells apart the assets of the same name. */
  readonly defaultFolder?: string | undefined;
  readonly timeout: number;
  readonly job: string;
  /** The commit for a new named tag; absent for the default branch's head. */
  readonly commit?: string | undefined;
}

export interface ReleaseBatch extends ReleaseOptions {
  readonly github: GitHubClient;
  readonly tasks: readonly AssetTask[];
  readonly absent: FailedFile | undefined;
}

/**
 * Chooses the release and writes nothing.
 * @param takenTags taken tags, which lists may not show yet
 * @param isAgain whether another job took the plain tag, so that its release must exist
 * @returns in `settled`, files that a frozen release already has, and files that can't be delivered
 * @throws {DeliveryError} `BAD_INPUT` if a branch has the tag's name, `CONFLICT` if no list shows the other release yet
 */
export async function chooseRelease(
  batch: ReleaseBatch,
  takenTags: ReadonlySet<string> = new Set(),
  isAgain = false,
) {
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
  // Git and GitHub can't distinguish a tag from a branch with the same name.
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

/**
 * If the default tag's release is immutable, finds a numbered release that can be changed, or the next free number.
 * @returns in `frozen`, the assets of immutable releases with this tag or a numbered one
 */
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

/** @returns 2 for `<base>-2`; 0 for any other tag */
function getTagNumber(tag: string, base: string): number {
  const [, digits = '0'] = /^-([1-9]\d{0,5})$/.exec(tag.startsWith(base) ? tag.slice(base.length) : '') ?? [];
  return Number(digits);
}

function findRefusal(
  { tag, release }: Awaited<ReturnType<typeof findRelease>>,
  batch: ReleaseBatch,
): DeliveryError | null {
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

/** A release is published with all files or not at all. */
export const unpublishedError = ({ subject, failure }: FailedFile): DeliveryError =>
  followingError('the release was not published', subject, failure);
