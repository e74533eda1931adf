import { isIP } from 'node:net';

/** A repository's name, in the parameters of Octokit's calls. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/** Where one kind of instance serves files, by the host of its pages for people. */
interface HostLayout {
  readonly fits: (host: string) => boolean;
  /** A site's root where its settings can't be read, without the slash at its end. */
  readonly site: (host: string, repository: RepositoryName) => string;
  /** The root of raw files. @param site the site's root, where the settings name it */
  readonly raw: (host: string, repository: RepositoryName, site: URL | undefined) => string;
}

/**
 * The forms, the first that fits counts. None was checked against a live instance; the fetched bytes decide.
 *
 * - github.com: https://docs.github.com/en/pages/getting-started-with-github-pages/what-is-github-pages
 * - ghe.com: `raw.SUBDOMAIN.ghe.com` stands in
 *   https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/feature-overview-for-github-enterprise-cloud-with-data-residency,
 *   `pages.SUBDOMAIN.ghe.com/OWNER/REPO` in the documentation's tutorial on publishing a site
 * - any other is a GitHub Enterprise Server: `pages.HOST` and `raw.HOST` with subdomain isolation, `HOST/pages`
 *   and `HOST/raw` without,
 *   https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/hardening-security-for-your-enterprise/enabling-subdomain-isolation
 */
const HOST_LAYOUTS: readonly HostLayout[] = [
  {
    fits: (host) => host === 'github.com',
    site: (_, { owner, repo }) => {
      const own = `${owner.toLowerCase()}.github.io`;
      return repo.toLowerCase() === own ? `https://${own}` : `https://${own}/${repo}`;
    },
    raw: (_, { owner, repo }) => `https://raw.githubusercontent.com/${owner}/${repo}`,
  },
  {
    fits: (host) => host.endsWith('.ghe.com'),
    site: isolatedSite,
    raw: (host, { owner, repo }) => `https://raw.${host}/${owner}/${repo}`,
  },
  {
    fits: () => true,
    site: (host, repository) =>
      // Only a domain can be isolated, and without isolation Pages are advised against.
      isIP(new URL(`https://${host}`).hostname) === 0
        ? isolatedSite(host, repository)
        : `https://${host}/pages/${path(host, repository)}`,
    raw: (host, { owner, repo }, site) => {
      if (site?.host === `pages.${host}`) return `https://raw.${host}/${owner}/${repo}`;
      if (site?.host === host) return `https://${host}/raw/${owner}/${repo}`;
      // The address behind the *Raw* button redirects to whichever is served; like github.com's, unproven here.
      return `https://${host}/${owner}/${repo}/raw`;
    },
  },
];

function isolatedSite(host: string, repository: RepositoryName): string {
  return `https://pages.${host}/${path(host, repository)}`;
}

/** The site of a user or an organisation is made of the repository `<owner>.<host>`. */
function path(host: string, { owner, repo }: RepositoryName): string {
  return repo.toLowerCase() === `${owner}.${host}`.toLowerCase() ? owner : `${owner}/${repo}`;
}

const layoutOf = ({ host }: URL): HostLayout => HOST_LAYOUTS.find(({ fits }) => fits(host)) as HostLayout;

/**
 * Where a repository's site is usually served, for want of what its settings say.
 *
 * @param server address of the instance's pages for people
 */
export function defaultSiteUrl(server: URL, repository: RepositoryName): URL {
  return new URL(`${layoutOf(server).site(server.host, repository)}/`);
}

/**
 * The address below which a repository's raw files lie, branch by branch.
 *
 * @param server address of the instance's pages for people
 * @param site the site's root as its settings name it: it tells whether an instance isolates subdomains
 */
export function defaultRawUrl(server: URL, repository: RepositoryName, site: URL | undefined): URL {
  return new URL(`${layoutOf(server).raw(server.host, repository, site)}/`);
}

/**
 * The pages for people of the instance that an API belongs to: `https://HOST` of `https://HOST/api/v3`
 * (Enterprise Server), and `https://DOMAIN` of `https://api.DOMAIN` (github.com, ghe.com).
 */
export function serverUrlOf(apiUrl: URL): URL {
  const ownPath = /^\/api\/v3(\/|$)/.test(apiUrl.pathname);
  return new URL(`https://${ownPath ? apiUrl.host : apiUrl.host.replace(/^api\./, '')}`);
}

/**
 * Whether the API's token may be sent to an address: the API's own host, its pages for people
 * (`HOST/api/uploads`), or its upload host (`uploads.DOMAIN`, also with subdomain isolation).
 *
 * @see https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/configuring-github-connect/enabling-github-connect-for-ghecom
 */
export function mayReceiveToken(apiUrl: URL, address: URL): boolean {
  const { host } = serverUrlOf(apiUrl);
  return address.protocol === 'https:' && [apiUrl.host, host, `uploads.${host}`].includes(address.host);
}
