import {
  type Asset,
  isUnfinished,
  listPublicAssets,
  listReleases,
  nameInLabel,
} from '../../github/api/releases.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import { lineIf } from '../../plain-text.ts';
import type { KnownRefusal } from '../../proof/check.ts';
import { AGREEING_ANSWERS, LISTED_ASSETS, LISTING, RELEASES } from '../../protocol/limits.ts';
import { assetName, flatName } from '../../rules/naming.ts';
import type { AuditedDelivery, AuditFindings, Listing } from '../channel.ts';
import { PLAIN_HOST, pageCheck, USUAL } from '../host-rules.ts';
import { planAsset } from './asset.ts';
import type { ReleaseOptions } from './release-choice.ts';

const DELETED = 'whether somebody deleted or replaced assets of this tool: a release keeps no record of them';

/**
 * K2: finds this tool's assets by their labels. An asset with another name than its label's, such as after a killed
 * replacement, shows only what must exist. GitHub's digest shows its content.
 */
export function createReleaseAudit(
  { tag, tagIsDefault, path }: Pick<ReleaseOptions, 'tag' | 'tagIsDefault'> & { path?: string | undefined },
  access: RepositoryContext,
) {
  return async (): Promise<AuditFindings> => {
    const github = requireGitHub(access);
    const releases = await listReleases(github);
    const unread = `deliveries to releases older than the newest ${RELEASES.total}`;
    const unknown = [
      ...lineIf(releases.length > 0, DELETED),
      ...lineIf(releases.length >= RELEASES.total, unread),
    ];
    const wanted = path === undefined ? undefined : await assetName(flatName(path));
    const host = { ...PLAIN_HOST, refusals: access.privateRepository === true ? PRIVATE : LOST };
    const found: AuditedDelivery[] = [];
    for (const release of releases) {
      if (release.draft || !(tagIsDefault || release.tag_name === tag)) continue;
      for (const [name, asset] of await findDelivered(await listPublicAssets(github, release))) {
        if ((wanted ?? name) !== name) continue;
        const sha256 = asset.digest?.replace('sha256:', '');
        if (sha256 === undefined) {
          unknown.push(`whether ${release.tag_name}/${asset.name} is as delivered: GitHub gives no digest`);
          continue;
        }
        const url = new URL(asset.name === name ? '' : name, asset.browser_download_url);
        const file = { size: asset.size, sha256 };
        const composePlacement = () => ({
          evidence: `asset ${asset.id} has the label of this tool`,
          first: pageCheck(url, { is: 'bytes', file }, host, AUDITED),
          written: false,
        });
        const { tag_name } = release;
        const plan = planAsset(tag_name, name, 'nothing is written', 'downloads');
        found.push({ plan: { ...plan, name: `${tag_name}/${name}` }, composePlacement, unknown: [] });
      }
    }
    return { deliveries: found, unknown };
  };
}

/** The assets that the newest releases list. */
export const createReleaseList =
  ({ tag, tagIsDefault }: Pick<ReleaseOptions, 'tag' | 'tagIsDefault'>, access: RepositoryContext) =>
  async (): Promise<Listing> => {
    const releases = await listReleases(requireGitHub(access), LISTING.releases);
    const wanted = releases.filter(({ draft, tag_name }) => !draft && (tagIsDefault || tag_name === tag));
    const items = wanted.map(async ({ tag_name, assets }) =>
      Array.from(await findDelivered(assets), ([name, asset]) => ({
        ...{ channel: 'K2' as const, place: `release ${tag_name}`, path: name, files: 1, size: asset.size },
        ...{ url: asset.browser_download_url, time: asset.updated_at, by: null, run: null },
        ...{ picture: null, changed: false },
      })),
    );
    const older = `deliveries to releases before the newest ${releases.length}, and to larger releases`;
    const isPart = releases.some(({ assets }) => assets.length >= LISTED_ASSETS);
    const unlisted = lineIf(isPart || releases.length >= LISTING.releases.total, older);
    return { deliveries: (await Promise.all(items)).flat(), unlisted };
  };

/** By the name in the label. An asset with another name counts only if no asset has that name. */
async function findDelivered(assets: readonly Asset[]): Promise<ReadonlyMap<string, Asset>> {
  const delivered = new Map<string, Asset>();
  for (const asset of assets) {
    const original = nameInLabel(asset);
    if (original === null || isUnfinished(asset)) continue;
    const name = await assetName(original);
    if (asset.name === name || assets.every((other) => other.name !== name)) delivered.set(name, asset);
  }
  return delivered;
}

const AUDITED = { ...USUAL, answers: AGREEING_ANSWERS.audited };

const LOST: readonly KnownRefusal[] = [
  {
    httpCodes: [200, 404],
    hint: 'the release lists the asset, but its URL does not serve it: deliver it again',
  },
];

const PRIVATE: readonly KnownRefusal[] = [
  {
    httpCodes: [404],
    hint: (w) =>
      `the repository is private now, so nobody can read its releases: make it public${w.orUse('K1')}`,
    isFinal: true,
  },
];
