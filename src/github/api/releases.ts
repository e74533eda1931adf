import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { UPLOAD } from '../../protocol/calls.ts';
import { ASSETS } from '../../protocol/limits.ts';
import { TRAILER } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { RETRY_HINT } from '../hints.ts';
import { mayReceiveToken } from '../hosts.ts';
import type { GitHubClient } from './client.ts';
import { nullIfNotFound } from './failures.ts';
import { listAll } from './list-all.ts';
import { sendStreamed } from './stream.ts';

type ReleaseEndpoints = RestEndpointMethodTypes['repos'];

export type Release = Pick<
  ReleaseEndpoints['getReleaseByTag']['response']['data'],
  'id' | 'upload_url' | 'body'
>;

/** @see protocol 2.5 */
export type Asset = Pick<
  ReleaseEndpoints['listReleaseAssets']['response']['data'][number],
  'id' | 'name' | 'label' | 'size' | 'digest' | 'browser_download_url'
> & {
  /** Octokit's type lacks `starter`: an upload that was not completed. */
  readonly state: string;
};

/** The last line shows that this tool made the release. */
const RELEASE_BODY = `Files for download.\n\n${TRAILER}`;

/**
 * The release of a tag: the existing one, or a new one. When another job creates it at the same moment, theirs
 * is used; a new release may not be found at once, so it is requested again.
 *
 * @see protocol 4.3
 */
export async function getOrCreateRelease(
  github: GitHubClient,
  tag: string,
  ports: Ports,
): Promise<{ readonly release: Release; readonly created: boolean }> {
  return withRetries(ports, async () => {
    const existing = await getReleaseByTag(github, tag);
    if (existing !== null) return { release: existing, created: false };
    try {
      const { data } = await github.rest.repos.createRelease({
        ...github.repository,
        tag_name: tag,
        name: tag,
        body: RELEASE_BODY,
        // Files for download are not a new version of the project.
        make_latest: 'false',
      });
      return { release: data, created: true };
    } catch (thrown) {
      if (!(thrown instanceof DeliveryError) || thrown.code !== 'CONFLICT') throw thrown;
      throw new DeliveryError('CONFLICT', `the release ${tag} is being created by another job`, {
        httpCode: thrown.httpCode,
        hint: 'run the step again, or set `tag:` to another one',
        retryable: true,
        cause: thrown,
      });
    }
  });
}

/** The release of a tag; `null` where there is none. */
export async function getReleaseByTag(github: GitHubClient, tag: string): Promise<Release | null> {
  const answer = await nullIfNotFound(() => github.rest.repos.getReleaseByTag({ ...github.repository, tag }));
  return answer === null ? null : answer.data;
}

/** All assets of the release, incomplete uploads included. */
export async function listAssets(github: GitHubClient, release: Release): Promise<readonly Asset[]> {
  return listAll(ASSETS, (query) =>
    github.rest.repos.listReleaseAssets({ ...github.repository, release_id: release.id, ...query }),
  );
}

/** Deletes an asset, if it still exists. */
export async function deleteAsset(github: GitHubClient, asset: Asset): Promise<void> {
  const { rest, repository } = github;
  await nullIfNotFound(() => rest.repos.deleteReleaseAsset({ ...repository, asset_id: asset.id }));
}

/** Deletes a release of this tool, then its tag, if they still exist. */
export async function deleteRelease(github: GitHubClient, release: Release, tag: string): Promise<void> {
  const { rest, repository } = github;
  await nullIfNotFound(() => rest.repos.deleteRelease({ ...repository, release_id: release.id }));
  await nullIfNotFound(() => rest.git.deleteRef({ ...repository, ref: `tags/${tag}` }));
}

/** Whether a release was made by this tool. */
export const isOwnRelease = ({ body }: Release): boolean => (body ?? '').split(/\r?\n/).includes(TRAILER);

/** Gives an uploaded asset its final name; this changes its address. */
export async function renameAsset(
  github: GitHubClient,
  asset: Asset,
  name: string,
  label: string,
): Promise<Asset> {
  const { data } = await github.rest.repos.updateReleaseAsset({
    ...github.repository,
    asset_id: asset.id,
    name,
    label,
  });
  return data;
}

/** One file to upload to a release. */
export interface AssetUpload {
  readonly release: Release;
  readonly file: LocalFile;
  /** ASCII; GitHub may change it and returns the final name. */
  readonly name: string;
  /** The original name, shown on the release's page. */
  readonly label: string;
}

/**
 * Streams the file to the release as an asset, once.
 *
 * @throws {DeliveryError} `CONFLICT` when the name is taken; `CONNECTION` or `HOST_ERROR` when it is
 * unknown what has arrived.
 * @see protocol 4.3
 */
export async function uploadAsset(github: GitHubClient, upload: AssetUpload, ports: Ports): Promise<Asset> {
  const { release, file, name, label } = upload;
  const url = getUploadUrl(github, release);
  url.searchParams.set('name', name);
  url.searchParams.set('label', label);
  const request = {
    call: UPLOAD.asset,
    url,
    type: 'application/octet-stream',
    length: file.size,
    body: () => file.read(),
  };
  const asset = (await sendStreamed(github, request, ports)) as Partial<Asset> | undefined;
  if (asset?.id === undefined || asset.browser_download_url === undefined) {
    throw new DeliveryError('HOST_ERROR', 'uploading the asset returned something that is not an asset', {
      httpCode: 201,
      hint: RETRY_HINT,
      retryable: true,
    });
  }
  return asset as Asset;
}

/** The release's upload address without its template, only on a host that may receive the token. */
function getUploadUrl(github: GitHubClient, release: Release): URL {
  const url = URL.parse(release.upload_url.replace(/\{[^}]*\}$/, ''));
  if (url !== null && mayReceiveToken(github.apiUrl, url)) return url;
  throw new DeliveryError(
    'HOST_ERROR',
    'the release has an upload address on a foreign host; the token is not sent there',
    { hint: 'check `api-url:`, or use channel: K3' },
  );
}
