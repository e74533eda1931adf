import { isIP } from 'node:net';

/** A repository's name, in the parameters of Octokit's calls. A type, since Octokit asks for an index signature. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/**
 * The default address of a repository's site, for when its settings cannot be read. None of these was tested on a live
 * Enterprise instance; verification of the fetched bytes decides.
 *
 * - github.com: https://docs.github.com/en/pages/getting-started-with-github-pages/what-is-github-pages
 * - ghe.com: `pages.SUBDOMAIN.ghe.com/OWNER/REPO`, in the documentation's tutorial on publishing a site
 * - any other is a GitHub Enterprise Server: `pages.HOST` with subdomain isolation, which only a domain can have, and
 *   without which GitHub advises against Pages; `HOST/pages` else,
 *   https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/hardening-security-for-your-enterprise/enabling-subdomain-isolation
 *
 * @param server address of the instance's web pages
 */
export function defaultPagesUrl({ host, hostname }: URL, { owner, repo }: RepositoryName): URL {
  if (host === 'github.com') {
    const userSite = `${owner.toLowerCase()}.github.io`;
    return new URL(`https://${userSite}/${repo.toLowerCase() === userSite ? '' : `${repo}/`}`);
  }
  const pages = isIP(hostname) === 0 ? `https://pages.${host}` : `https://${host}/pages`;
  // The repository `<owner>.<host>` is the site of the user or organization.
  const isUserSite = repo.toLowerCase() === `${owner}.${host}`.toLowerCase();
  return new URL(`${pages}/${owner}/${isUserSite ? '' : `${repo}/`}`);
}

/**
 * The default address of a repository's raw files; a branch is the next part of the path. That of ghe.com is in
 * https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/feature-overview-for-github-enterprise-cloud-with-data-residency
 *
 * @param server address of the instance's web pages
 * @param site the site's root from its settings: it shows whether an instance isolates subdomains
 */
export function defaultRawUrl({ host }: URL, { owner, repo }: RepositoryName, site: URL | undefined): URL {
  const name = `${owner}/${repo}/`;
  if (host === 'github.com') return new URL(`https://raw.githubusercontent.com/${name}`);
  const isIsolated = host.endsWith('.ghe.com') || site?.host === `pages.${host}`;
  if (isIsolated) return new URL(`https://raw.${host}/${name}`);
  // Where that is not known, the address of the *Raw* button redirects to the one that the instance uses.
  return new URL(site?.host === host ? `https://${host}/raw/${name}` : `https://${host}/${name}raw/`);
}

/**
 * The web pages of the instance that an API belongs to: `https://HOST` for `https://HOST/api/v3`
 * (Enterprise Server), and `https://DOMAIN` for `https://api.DOMAIN` (github.com, ghe.com).
 */
export function serverUrlOf(apiUrl: URL): URL {
  const isServer = /^\/api\/v3(\/|$)/.test(apiUrl.pathname);
  return new URL(`https://${isServer ? apiUrl.host : apiUrl.host.replace(/^api\./, '')}`);
}

/**
 * Whether the API's token may be sent to an address: the API's own host, that of the web pages
 * (`HOST/api/uploads`), or the upload host (`uploads.DOMAIN`, also with subdomain isolation).
 *
 * @see https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/configuring-github-connect/enabling-github-connect-for-ghecom
 */
export function mayReceiveToken(apiUrl: URL, address: URL): boolean {
  const { host } = serverUrlOf(apiUrl);
  return address.protocol === 'https:' && [apiUrl.host, host, `uploads.${host}`].includes(address.host);
}
