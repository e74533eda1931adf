import { isIP } from 'node:net';

/** A type, since Octokit needs an index signature. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/**
 * A repository's default Pages URL. Enterprise URLs come from GitHub's documentation, untested; verification decides.
 * @param server the web pages' URL. On Enterprise Server with subdomain isolation, Pages has a host of its own.
 */
export function defaultPagesUrl({ host, hostname }: URL, { owner, repo }: RepositoryName): URL {
  if (host === 'github.com') {
    const userSite = `${owner.toLowerCase()}.github.io`;
    return new URL(`https://${userSite}/${repo.toLowerCase() === userSite ? '' : `${repo}/`}`);
  }
  const pages = isIP(hostname) === 0 ? `https://pages.${host}` : `https://${host}/pages`;
  const isUserSite = repo.toLowerCase() === `${owner}.${host}`.toLowerCase();
  return new URL(`${pages}/${owner}/${isUserSite ? '' : `${repo}/`}`);
}

/**
 * The default URL of raw files, before the branch. @param site its host shows whether subdomains are isolated
 * @see
 * https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/feature-overview-for-github-enterprise-cloud-with-data-residency
 */
export function defaultRawUrl({ host }: URL, { owner, repo }: RepositoryName, site: URL | undefined): URL {
  const name = `${owner}/${repo}/`;
  if (host === 'github.com') return new URL(`https://raw.githubusercontent.com/${name}`);
  const isIsolated = host.endsWith('.ghe.com') || site?.host === `pages.${host}`;
  if (isIsolated) return new URL(`https://raw.${host}/${name}`);
  // If isolation is unknown, the URL of the *Raw* button redirects to the right host.
  return new URL(site?.host === host ? `https://${host}/raw/${name}` : `https://${host}/${name}raw/`);
}

/** The web pages of an API: `https://HOST` for `https://HOST/api/v3`, `https://DOMAIN` for `https://api.DOMAIN`. */
export function serverUrlOf(apiUrl: URL): URL {
  const isServer = /^\/api\/v3(\/|$)/.test(apiUrl.pathname);
  return new URL(`https://${isServer ? apiUrl.host : apiUrl.host.replace(/^api\./, '')}`);
}

/** Whether a URL may receive the token: only the API, the web pages (`HOST/api/uploads`) and the upload host. */
export function mayReceiveToken(apiUrl: URL, address: URL): boolean {
  const { host } = serverUrlOf(apiUrl);
  return address.protocol === 'https:' && [apiUrl.host, host, `uploads.${host}`].includes(address.host);
}
