import { isIP } from 'node:net';

/** A repository's name, in the parameters of Octokit's calls. A type, since Octokit asks for an index signature. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/** Where one kind of instance serves files. `host` is that of its web pages. */
interface HostLayout {
  readonly matches: (host: string) => boolean;
  /** A site's root without a slash at the end, for when the site's settings cannot be read. */
  readonly site: (host: string, repository: RepositoryName) => string;
  /** The root of raw files. @param site the site's root, where the settings name it */
  readonly raw: (host: string, repository: RepositoryName, site: URL | undefined) => string;
}

/**
 * The layouts; the first that matches counts. None was tested on a live instance; verification of the
 * fetched bytes decides.
 *
 * - github.com: https://docs.github.com/en/pages/getting-started-with-github-pages/what-is-github-pages
 * - ghe.com: `raw.SUBDOMAIN.ghe.com` is in
 *   https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/feature-overview-for-github-enterprise-cloud-with-data-residency,
 *   `pages.SUBDOMAIN.ghe.com/OWNER/REPO` in the documentation's tutorial on publishing a site
 * - any other is a GitHub Enterprise Server: `pages.HOST` and `raw.HOST` with subdomain isolation, `HOST/pages`
 *   and `HOST/raw` without,
 *   https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/hardening-security-for-your-enterprise/enabling-subdomain-isolation
 */
const HOST_LAYOUTS: readonly HostLayout[] = [
  {
    matches: (host) => host === 'github.com',
    site: (_, { owner, repo }) => {
      const ownSite = `${owner.toLowerCase()}.github.io`;
      return repo.toLowerCase() === ownSite ? `https://${ownSite}` : `https://${ownSite}/${repo}`;
    },
    raw: (_, { owner, repo }) => `https://raw.githubusercontent.com/${owner}/${repo}`,
  },
  {
    matches: (host) => host.endsWith('.ghe.com'),
    site: formatIsolatedSite,
    raw: (host, { owner, repo }) => `https://raw.${host}/${owner}/${repo}`,
  },
  {
    matches: () => true,
    site: (host, repository) =>
      // Only a domain can be isolated, and GitHub advises against Pages without isolation.
      isIP(new URL(`https://${host}`).hostname) === 0
        ? formatIsolatedSite(host, repository)
        : `https://${host}/pages/${formatSitePath(host, repository)}`,
    raw: (host, { owner, repo }, site) => {
      if (site?.host === `pages.${host}`) return `https://raw.${host}/${owner}/${repo}`;
      if (site?.host === host) return `https://${host}/raw/${owner}/${repo}`;
      // The address of the *Raw* button redirects to the one that the instance uses.
      return `https://${host}/${owner}/${repo}/raw`;
    },
  },
];

function formatIsolatedSite(host: string, repository: RepositoryName): string {
  return `https://pages.${host}/${formatSitePath(host, repository)}`;
}

/** The repository `<owner>.<host>` is the site of the user or organization. */
function formatSitePath(host: string, { owner, repo }: RepositoryName): string {
  return repo.toLowerCase() === `${owner}.${host}`.toLowerCase() ? owner : `${owner}/${repo}`;
}

function getLayout({ host }: URL): HostLayout {
  return HOST_LAYOUTS.find(({ matches }) => matches(host)) as HostLayout;
}

/**
 * The default address of a repository's site, for when its settings cannot be read.
 *
 * @param server address of the instance's web pages
 */
export function defaultSiteUrl(server: URL, repository: RepositoryName): URL {
  return new URL(`${getLayout(server).site(server.host, repository)}/`);
}

/**
 * The default address of a repository's raw files; a branch is the next part of the path.
 *
 * @param server address of the instance's web pages
 * @param site the site's root from its settings: it shows whether an instance isolates subdomains
 */
export function defaultRawUrl(server: URL, repository: RepositoryName, site: URL | undefined): URL {
  return new URL(`${getLayout(server).raw(server.host, repository, site)}/`);
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
