import type { GitHubClient } from '../../github/api/client.ts';
import {
  type Asset,
  getDownloadUrl,
  hasOwnLabel,
  isUnfinished,
  type ListedRelease,
  listReleases,
} from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { AGREEING_PROBES, RELEASES } from '../../protocol/limits.ts';
import { type AuditedDelivery, whenAnswered } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';

/** What an audit needs of the inputs. */
interface AuditOptions {
  readonly tag: string;
  readonly tagIsDefault: boolean;
  /** The name of an asset. */
  readonly path: string | undefined;
}

/**
 * K2: finds the assets that this tool uploaded, by their label; the host's digest says what each must be. One that
 * somebody deleted, or uploaded again, has no label any more.
 *
 * @see design 8
 */
export function createReleaseAudit(
  { tag, tagIsDefault, path }: AuditOptions,
  access: RepositoryAccess,
  { logger }: Pick<Ports, 'logger'>,
) {
  return async (): Promise<readonly AuditedDelivery[]> => {
    const github = requireGitHub(access, 'K2');
    const releases = await listReleases(github);
    const unread = `what was delivered to older releases than the newest ${RELEASES.total}`;
    const unknown = releases.length >= RELEASES.total ? [unread] : [];
    const found = releases
      .filter((release) => !release.draft && (tagIsDefault || release.tag_name === tag))
      .flatMap((release) => release.assets.map((asset) => ({ release, asset })))
      .filter(({ asset }) => hasOwnLabel(asset) && !isUnfinished(asset))
      .filter(({ asset }) => path === undefined || asset.name === path);
    return found.flatMap((one) => {
      const described = describeAsset(one, github, access);
      if (described !== null) return [{ ...described, unknown }];
      logger.warning(`GitHub has no digest of ${one.asset.name}, so it can not be compared, and is left out`);
      return [];
    });
  };
}

/** @returns `null` where nothing tells what its bytes were */
function describeAsset(
  { release, asset }: FoundAsset,
  github: GitHubClient,
  { repository }: RepositoryAccess,
): Omit<AuditedDelivery, 'unknown'> | null {
  const [, sha256] = /^sha256:([0-9a-f]{64})$/.exec(asset.digest ?? '') ?? [];
  if (sha256 === undefined) return null;
  const place = () => ({
    file: { size: asset.size, sha256 },
    placement: {
      evidence: `asset ${asset.id} has the label of this tool`,
      url: getDownloadUrl(github, asset),
      answers: AGREEING_PROBES.counted,
      refusals: repository.privateRepository === true ? PRIVATE : LOST,
      ...{ written: false, notes: [], unknown: [] },
    },
  });
  const plan = {
    channel: 'K2',
    method: 'nothing is written',
    destination: `release ${release.tag_name}, asset ${asset.name}`,
    name: `${release.tag_name}/${asset.name}`,
    claim: 'is downloaded as it was delivered',
  } as const;
  return { plan, place };
}

interface FoundAsset {
  readonly release: ListedRelease;
  readonly asset: Asset;
}

const LOST = [200, 404].map((httpCode) =>
  whenAnswered(
    httpCode,
    'the release lists the asset and its address does not serve it: look at the release, or deliver it again',
  ),
);

const PRIVATE = [
  whenAnswered(
    404,
    (w) =>
      `the repository is private now, so nobody can read its releases: make it public, or ${w.use('K1')}`,
    true,
  ),
];
