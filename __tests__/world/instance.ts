/** The URLs of a GitHub. Base URLs have no slash at the end. */
export interface GitHubInstance {
  /** Host of the web pages, of git and of downloads. */
  readonly host: string;
  readonly api: string;
  readonly uploads: string;
  /** Followed by `/<owner>/<name>/<ref>/<path>`. */
  readonly raw: string;
  /** Where a repository's site is, with a slash at the end. */
  readonly site: (owner: string, name: string) => string;
}

export const GITHUB_COM: GitHubInstance = {
  host: 'github.com',
  api: 'https://api.github.com',
  uploads: 'https://uploads.github.com',
  raw: 'https://raw.githubusercontent.com',
  site(owner, name) {
    const host = `${owner.toLowerCase()}.github.io`;
    return name.toLowerCase() === host ? `https://${host}/` : `https://${host}/${name}/`;
  },
};

/** What a GitHub Enterprise shows without sign-in. Private mode hides everything, or everything except sites. */
export type PublicAccess = 'everything' | 'sites' | 'nothing';

/** A GitHub Enterprise; `publicAccess` may be changed at any time. */
export interface EnterpriseInstance extends GitHubInstance {
  publicAccess: PublicAccess;
}

/**
 * A GitHub Enterprise Server, its users' content on subdomains or, without isolation, on paths; or, at a
 * host below ghe.com, GitHub Enterprise Cloud with data residency. That uploads move along with the
 * isolation was only reported; the rest is documented.
 */
export function createEnterprise(host: string, isolated = true): EnterpriseInstance {
  const server: EnterpriseInstance = {
    host,
    api: `https://${host}/api/v3`,
    uploads: isolated ? `https://uploads.${host}` : `https://${host}/api/uploads`,
    raw: isolated ? `https://raw.${host}` : `https://${host}/raw`,
    site: (owner, name) =>
      isolated ? `https://pages.${host}/${owner}/${name}/` : `https://${host}/pages/${owner}/${name}/`,
    publicAccess: 'everything',
  };
  return host.endsWith('.ghe.com') ? { ...server, api: `https://api.${host}` } : server;
}
