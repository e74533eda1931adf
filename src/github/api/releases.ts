import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { API, UPLOAD } from '../../protocol/calls.ts';
import { ASSETS } from '../../protocol/limits.ts';
import { TRAILER } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { encodePath } from '../../rules/naming.ts';
import { mayReceiveToken } from '../hosts.ts';
import type { GitHubClient } from './client.ts';
import { RETRY_HINT } from './failures.ts';
import { sendStreamed } from './stream.ts';

export interface Release {
  readonly id: number;
  /** Where its assets are sent, as the release itself says. */
  readonly upload_url: string;
  readonly body?: string | null;
}

/** By this a release is known to have been made by this tool. */
const RELEASE_BODY = `Files for download.\n\n${TRAILER}`;

/** @see protocol 2.5 */
export interface Asset {
  readonly id: number;
  readonly name: string;
  readonly label?: string | null;
  readonly state: string;
  readonly size: number;
  /** `sha256:<hex>`, where the host computes one. */
  readonly digest?: string | null;
  readonly browser_download_url: string;
}

/**
 * The release of a tag: the one that stands, or a new one. Another job may create it at the same
 * moment; then theirs is taken, and since look-ups lag behind creation, looked for more than once.
 *
 * @see protocol 4.3
 */
export async function getOrCreateRelease(
  github: GitHubClient,
  tag: string,
  ports: Ports,
): Promise<{ readonly release: Release; readonly created: boolean }> {
  return withRetries(ports, async () => {
    const standing = await getReleaseByTag(github, tag);
    if (standing !== null) return { release: standing, created: false };
    try {
      // Files for download are no new version of the project: they never become its "latest" release.
      const release = await github.callOnce<Release>(API.create_release, {
        tag_name: tag,
        name: tag,
        body: RELEASE_BODY,
        make_latest: 'false',
      });
      return { release, created: true };
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
  try {
    return await github.call<Release>(API.release_by_tag, { tag: encodePath(tag) });
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}

/** All assets of the release, half-uploaded ones included. */
export async function listAssets(github: GitHubClient, release: Release): Promise<readonly Asset[]> {
  const assets: Asset[] = [];
  for (let page = 1; page <= ASSETS.total / ASSETS.page; page += 1) {
    const parameters = { id: release.id, per_page: ASSETS.page, page };
    const some = await github.call<Asset[]>(API.list_assets, parameters);
    assets.push(...some);
    if (some.length < ASSETS.page) break;
  }
  return assets;
}

/** Takes an asset away; one that is gone already is no failure. */
export async function deleteAsset(github: GitHubClient, asset: Asset): Promise<void> {
  await goneOrDone(github.call(API.delete_asset, { id: asset.id }));
}

async function goneOrDone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_FOUND') throw thrown;
  }
}

/** Takes a release of ours away, and its tag; what is gone already is no failure. */
export async function deleteRelease(github: GitHubClient, release: Release, tag: string): Promise<void> {
  await goneOrDone(github.call(API.delete_release, { id: release.id }));
  await goneOrDone(github.call(API.delete_tag, { tag: encodePath(tag) }));
}

/** Whether a release was made by this tool. */
export const isOwnRelease = ({ body }: Release): boolean => (body ?? '').split(/\r?\n/).includes(TRAILER);

/** Gives an uploaded asset its final name, under which it gets a new address. */
export async function renameAsset(
  github: GitHubClient,
  asset: Asset,
  name: string,
  label: string,
): Promise<Asset> {
  return github.call<Asset>(API.rename_asset, { id: asset.id, name, label });
}

/**
 * Streams the file to the release as an asset, once.
 *
 * @param name ASCII; the host's own answer tells the name it kept
 * @throws {DeliveryError} `CONFLICT` when the name is taken; `CONNECTION` or `HOST_ERROR` when it is
 * unknown what has arrived.
 * @see protocol 4.3
 */
export async function uploadAsset(
  github: GitHubClient,
  release: Release,
  file: LocalFile,
  name: string,
  label: string,
  ports: Ports,
): Promise<Asset> {
  const url = uploadUrl(github, release);
  url.searchParams.set('name', name);
  url.searchParams.set('label', label);
  const streaming = {
    call: UPLOAD.asset,
    url,
    type: 'application/octet-stream',
    length: file.size,
    body: () => file.read(),
  };
  const asset = (await sendStreamed(github, streaming, ports)) as Partial<Asset> | undefined;
  if (asset?.id === undefined || asset.browser_download_url === undefined) {
    throw new DeliveryError(
      'HOST_ERROR',
      'uploading the asset was answered with something that is not an asset',
      { httpCode: 201, hint: RETRY_HINT, retryable: true },
    );
  }
  return asset as Asset;
}

/** The release's upload address without its template, only ever on a host that belongs to the API's. */
function uploadUrl(github: GitHubClient, release: Release): URL {
  const url = URL.parse(release.upload_url.replace(/\{[^}]*\}$/, ''));
  if (url !== null && mayReceiveToken(github.apiUrl, url)) return url;
  throw new DeliveryError(
    'HOST_ERROR',
    'the release names an upload address on a foreign host; the token is not sent there',
    { hint: 'check `api-url:`, or use channel: K3' },
  );
}
