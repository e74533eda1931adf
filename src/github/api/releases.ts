import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { UPLOAD } from '../../protocol/calls.ts';
import { LISTED_ASSETS, RELEASES } from '../../protocol/limits.ts';
import { TOOL, TRAILER } from '../../protocol/words.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { mayReceiveToken } from '../hosts.ts';
import { type GitHubClient, listAll, sendStreamed } from './client.ts';
import { dataOrNull } from './failures.ts';

type ReleaseEndpoints = RestEndpointMethodTypes['repos'];

export type Release = Pick<
  ReleaseEndpoints['getReleaseByTag']['response']['data'],
  'id' | 'upload_url' | 'name' | 'body' | 'draft' | 'tag_name' | 'immutable' | 'updated_at'
>;

export type Asset = Pick<
  ReleaseEndpoints['listReleaseAssets']['response']['data'][number],
  'id' | 'name' | 'label' | 'size' | 'digest' | 'browser_download_url' | 'updated_at'
> & {
  /** `starter` (an incomplete upload) is missing in Octokit's type. */
  readonly state: string;
};

/** A release from a list, which may lack some of its assets. @see listPublicAssets */
type ListedRelease = Release & { readonly assets: readonly Asset[] };

/** The whole text of a release that this tool published. If it differs, somebody edited it. */
export const RELEASE_BODY = `Files for download.\n\n${TRAILER}`;

/** Creates a draft. Only people with write access see it, and it has no tag until it is published. @see protocol 4.3 */
export async function createDraft(github: GitHubClient, tag: string, body: string): Promise<Release> {
  const draft = { ...github.repository, tag_name: tag, name: tag, body, draft: true };
  return (await github.rest.repos.createRelease(draft)).data;
}

/** Such as `v1.0.0-rc.1` or `app@1.0.0-beta`. */
const PRERELEASE = /(?:^|[@/]|-(?=v))v?(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)-[\w.-]+(?:\+[\w.-]+)?$/;

/**
 * Publishes a draft. @param to `isNamed`: a person named the tag; `commit`: for a new tag, if not the default branch's
 */
export async function publishDraft(
  { rest, repository }: GitHubClient,
  { id }: Release,
  to: Readonly<{ tag: string; isNamed: boolean; commit?: string | undefined }>,
): Promise<Release> {
  const { tag, isNamed, commit } = to;
  const release = {
    tag_name: tag,
    name: tag,
    body: RELEASE_BODY,
    draft: false,
    prerelease: isNamed && PRERELEASE.test(tag),
    // Files that are delivered daily are not a new version of the project.
    make_latest: isNamed ? 'legacy' : 'false',
    ...(commit && { target_commitish: commit }),
  } as const;
  return (await rest.repos.updateRelease({ ...repository, release_id: id, ...release })).data;
}

export async function deleteDraft({ rest, repository }: GitHubClient, { id }: Release): Promise<void> {
  await dataOrNull(rest.repos.deleteRelease({ ...repository, release_id: id }));
}

export function getRelease({ rest, repository }: GitHubClient, id: number): Promise<Release | null> {
  return dataOrNull(rest.repos.getRelease({ ...repository, release_id: id }));
}

/** The repository's newest releases, drafts included. */
export async function listReleases(
  github: GitHubClient,
  limits: { readonly page: number; readonly total: number } = RELEASES,
): Promise<readonly ListedRelease[]> {
  return listAll((query) => github.rest.repos.listReleases({ ...github.repository, ...query }), limits);
}

export function getReleaseByTag({ rest, repository }: GitHubClient, tag: string): Promise<Release | null> {
  return dataOrNull(rest.repos.getReleaseByTag({ ...repository, tag }));
}

/** All assets of the release, incomplete uploads included. */
export async function listAssets(github: GitHubClient, release: Release): Promise<readonly Asset[]> {
  return listAll((query) =>
    github.rest.repos.listReleaseAssets({ ...github.repository, release_id: release.id, ...query }),
  );
}

/** The assets of a listed release. It requests them if the list may be incomplete. */
export async function listPublicAssets(
  github: GitHubClient,
  release: ListedRelease,
): Promise<readonly Asset[]> {
  return release.assets.length < LISTED_ASSETS ? release.assets : listAssets(github, release);
}

/** Deletes an asset. After a 404 the list of assets decides: a wrong 404 would leave the asset public. */
export async function deleteAsset(github: GitHubClient, release: Release, { id }: Asset): Promise<void> {
  const { rest, repository } = github;
  const send = () => dataOrNull(rest.repos.deleteReleaseAsset({ ...repository, asset_id: id }));
  if ((await send()) !== null) return;
  if ((await listAssets(github, release)).some((asset) => asset.id === id)) await send();
}

/** The label of an asset that this tool uploads: the file's name, and who delivered it. The release's page shows it. */
export const formatLabel = (name: string, owner?: string): string =>
  `${name} (${TOOL.name}${owner === undefined ? '' : `: ${owner}`})`;

const readLabel = ({ label }: Pick<Asset, 'label'>) =>
  RegExp(`^(.*) \\(${TOOL.name}(?:: ([^()]+))?\\)$`).exec(label ?? '');

/** The file name in the label of an asset that this tool uploaded; `null` for any other asset. */
export const nameInLabel = (asset: Pick<Asset, 'label'>): string | null => readLabel(asset)?.[1] ?? null;

/** Whether this tool delivered the asset. @param owner for whom; for anybody if absent */
export function hasOwnLabel(asset: Pick<Asset, 'label'>, owner?: string): boolean {
  const label = readLabel(asset);
  return label !== null && (owner === undefined || label[2] === owner);
}

/** Gives an uploaded asset its final name, which changes its URL. */
export async function renameAsset(github: GitHubClient, asset: Asset, name: string): Promise<Asset> {
  const renamed = { ...github.repository, asset_id: asset.id, name, label: asset.label ?? name };
  return (await github.rest.repos.updateReleaseAsset(renamed)).data;
}

/** Whether an upload still runs or failed. GitHub reports `starter`, `open`, or for a complete upload `uploaded`. */
export const isUnfinished = ({ state }: Pick<Asset, 'state'>): boolean => state !== 'uploaded';

/**
 * Streams a file to a release, once. @throws {DeliveryError} `CONFLICT` for a used name; `CONNECTION` if arrival is
 * unknown
 */
export async function uploadAsset(
  github: GitHubClient,
  upload: Readonly<{ release: Release; file: LocalFile; name: string; label: string }>,
  ports: Ports,
): Promise<Asset> {
  const { release, file, name, label } = upload;
  const url = getUploadUrl(github, release);
  url.searchParams.set('name', name);
  url.searchParams.set('label', label);
  const request = {
    url,
    headers: { 'content-type': 'application/octet-stream' },
    length: file.size,
    body: () => file.read(),
  };
  return (await sendStreamed(github, UPLOAD.asset, request, ports)) as Asset;
}

/** The release's upload URL without its template. Only hosts that may receive the token are accepted. */
function getUploadUrl(github: GitHubClient, release: Release): URL {
  const url = URL.parse(release.upload_url.replace(/\{[^}]*\}$/, ''));
  if (url !== null && mayReceiveToken(github.apiUrl, url)) return url;
  const message = "the release's upload URL is on another host, which must not get the token";
  throw new DeliveryError('HOST_ERROR', message, {
    hint: (w) => `check ${w.input('api-url')}${w.orUse('K3')}`,
  });
}
