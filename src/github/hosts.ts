import { isIP } from 'node:net';

/** A repository, as Octokit's parameters. Octokit requires a type instead of an interface. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/**
 * The default URL of a repository's Pages site, if its settings can't be read. The Enterprise URLs come from GitHub's
 * documentation and were not tested on a live instance; verification decides. On Enterprise Server it is `pages.HOST`
 * with subdomain isolation (which needs a domain), otherwise `HOST/pages`. @param server the URL of the instance's web
 * pages
 * @see https://docs.github.com/en/pages/getting-started-with-github-pages/what-is-github-pages
 * @see
 * https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/hardening-security-for-your-enterprise/enabling-subdomain-isolation
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
 * The default URL of a repository's raw files, to which the branch is added.
 * @param server the URL of the instance's web pages. @param site the site's root, which shows whether subdomains are
 * isolated
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

/**
 * The URL of an instance's web pages: `https://HOST` for `https://HOST/api/v3` (Enterprise Server), or `https://DOMAIN`
 * for `https://api.DOMAIN`.
 */
export function serverUrlOf(apiUrl: URL): URL {
  const isServer = /^\/api\/v3(\/|$)/.test(apiUrl.pathname);
  return new URL(`https://${isServer ? apiUrl.host : apiUrl.host.replace(/^api\./, '')}`);
}

/**
 * Whether the token may be sent to a URL: only to the API, the web pages (`HOST/api/uploads`) and the upload host.
 * @see
 * https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/configuring-github-connect/enabling-github-connect-for-ghecom
 */
export function mayReceiveToken(apiUrl: URL, address: URL): boolean {
  const { host } = serverUrlOf(apiUrl);
  return address.protocol === 'https:' && [apiUrl.host, host, `uploads.${host}`].includes(address.host);
}
