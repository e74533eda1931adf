import { DeliveryError } from '../../errors.ts';
import { knownSettings, type PagesSettings, type RepositoryContext } from '../../github/api/repository.ts';
import { defaultPagesUrl, defaultRawUrl, type RepositoryName } from '../../github/hosts.ts';
import type { Deliverer } from '../../github/workflow-run.ts';
import { lineIf } from '../../plain-text.ts';
import { agentPath, decodePath, repositoryPath, urlBelow } from '../../rules/naming.ts';

import type { Words } from '../../words.ts';
import type { JobRuntime } from './deploy/job-runtime.ts';

export interface PagesOptions {
  readonly branch: string | undefined;
  readonly siteWorkflow: string | undefined;
  /** Path in the repository; a folder ends in `/`. */
  readonly path: string | undefined;
  /** For a removal: the URL to remove, instead of a name. */
  readonly address?: URL | undefined;
  /** For agents, who write nothing in the root of the site: the folder of items without a path, ending in `/`. */
  readonly defaultFolder?: string | undefined;
  /** For untrusted names and content: the only folder that may be written, ending in `/`. */
  readonly confine?: string | undefined;
  /** Absent in a check that needs no repository. */
  readonly repository?: RepositoryName | undefined;
  readonly pagesBase: URL | undefined;
  readonly rawBase: URL | undefined;
  /** The GitHub instance's URL; it decides which host serves the files. */
  readonly serverUrl: URL;
  /** Whether to create a missing branch and Pages site. */
  readonly setup?: boolean | undefined;
  readonly isRemoval?: boolean;
  /** A sweep removes delivered folders below `path` after this time in milliseconds. */
  readonly olderThan?: number | undefined;
  /** A sweep removes folders whose pull request is closed. */
  readonly closed?: boolean;
  /** The run's pull request, if it was open when the run began. */
  readonly openPull?: number | undefined;
  readonly essence: string;
  readonly deliverer?: Deliverer | undefined;
  /** Whether to replace or remove somebody else's files. */
  readonly overwrite: boolean;
  /** Folders only: whether to remove owned files that the folder no longer has. */
  readonly prune: boolean;
  /** How many sibling deliveries to keep, counting this one; `undefined` keeps all. */
  readonly keep: number | undefined;
  /** Folders only: the folder of the site whose pages the delivered ones are compared with. */
  readonly compare?: string | undefined;
  /** Whether to commit the file that switches Jekyll off. */
  readonly nojekyll: boolean;
  readonly marker: string | undefined;
  readonly picture: boolean;
  readonly timeout: number;
  readonly runtime?: JobRuntime | null;
}

export interface ServedSite {
  readonly rootUrl: URL;
  /** The folder of the branch that Pages serves, ending in `/`; empty for the whole branch. */
  readonly siteRoot: string;
  readonly builtBy: PagesSettings['builtBy'];
}

/** Where an item is stored, and the URLs that serve it. */
export interface PagesDestination extends ServedSite {
  readonly branch: string;
  /** Path of the file, or of the folder with `/` at its end; empty for the branch's root. */
  readonly itemPath: string;
  /** The file's path, or the path of the folder's entry page. */
  readonly entryPath: string;
  /** The path behind `pageUrl`: the file itself, or the page that the build makes of it. */
  readonly page: string;
  readonly pageUrl: URL;
  readonly rawUrl: URL;
  /** Whether the site's build may change the content. */
  readonly hostMayChangeBytes: boolean;
  /** Files that would be served at a rendered page's URL; the branch may have none of them. */
  readonly rivals?: readonly string[];
  readonly notes: readonly string[];
  readonly unknown: readonly string[];
  /** Whether the repository is private, so that the public can't open the raw URL. */
  readonly isPrivate: boolean;
}

/** Combines the Pages settings with the inputs. @throws {DeliveryError} if the site could never show the file */
export function resolveDestination(
  repository: RepositoryName,
  location: PagesOptions & { readonly name: string; readonly entryName?: string },
  site: RepositoryContext['pagesSettings'],
  isPrivate = false,
): PagesDestination {
  const known = knownSettings(site);
  const { isRemoval, setup, pagesBase: givenBase } = location;
  // Without a site, files can still be removed from a named branch.
  const isBranchKnown = isRemoval && location.branch !== undefined;
  if (site === null && givenBase === undefined && !setup && !isBranchKnown)
    throw noSiteError(repository, location);
  if (known !== null && givenBase === undefined) refuseUnusableSite(known, location);
  const branch = targetBranch(location, site);
  const { address, serverUrl, siteWorkflow, entryName = '' } = location;
  const served: ServedSite = {
    siteRoot: rootOf(site),
    rootUrl: location.pagesBase ?? known?.base ?? defaultPagesUrl(serverUrl, repository),
    builtBy: known?.builtBy ?? (siteWorkflow === undefined ? 'branch' : 'workflow'),
  };
  const itemPath = address ? pathOf(address, served, location) : pathBelow(served.siteRoot, location);
  const path = itemPath + entryName;
  const rawBase = location.rawBase ?? urlBelow(defaultRawUrl(serverUrl, repository, known?.base), branch);
  return {
    ...served,
    branch,
    itemPath,
    entryPath: path,
    page: path,
    pageUrl: addressOf(served, path),
    rawUrl: urlBelow(rawBase, path),
    hostMayChangeBytes: false,
    notes: lineIf(isPrivate, PRIVATE_NOTE),
    isPrivate,
    unknown: lineIf(site === 'unreadable', SETTINGS_UNREADABLE),
  };
}

/** The branch of the input, of the Pages settings, or the protocol's default. @see protocol 1 (flow per channel) */
export const targetBranch = (
  { branch }: Pick<PagesOptions, 'branch'>,
  site: RepositoryContext['pagesSettings'],
): string => branch ?? knownSettings(site)?.branch ?? 'main';

const SETTINGS_UNREADABLE =
  'the Pages settings could not be read (the permission `pages: read` is missing); the default URL was assumed';

const PRIVATE_NOTE = 'the repository is private, but its Pages site is public: anybody can open the URL';

/** The branch's folder that Pages serves, such as `docs/`; empty for the whole branch. */
export function rootOf(site: RepositoryContext['pagesSettings']): string {
  const folder = knownSettings(site)?.folder ?? '';
  return folder === '' ? '' : `${folder}/`;
}

export const servedPath = (siteRoot: string, path: string): string => path.slice(siteRoot.length);

/** Finds the branch's path for a URL. @throws {DeliveryError} `BAD_INPUT` if the URL is outside the site */
function pathOf(
  address: URL,
  { rootUrl, siteRoot }: ServedSite,
  { path: folder = '' }: Pick<PagesOptions, 'path'>,
): string {
  const [root, given] = [decodePath(rootUrl.pathname), decodePath(address.pathname)];
  const path = siteRoot + given.slice(root.length);
  if (address.host !== rootUrl.host || !given.startsWith(root)) {
    throw new DeliveryError('BAD_INPUT', `${address.href} is not below ${rootUrl.href}`, {
      hint: (w) => `set ${w.input('url')} to a delivered URL`,
    });
  }
  if (!path.startsWith(folder.replace(/^\.\/$/, ''))) {
    throw new DeliveryError('BAD_INPUT', `${address.href} is not in ${folder}`, {
      hint: (w) => `leave ${w.input('path')} out: the URL names the path`,
    });
  }
  if (path !== siteRoot) repositoryPath(path.replace(/\/$/, ''), (w) => w.subject('url'));
  return path;
}

function pathBelow(
  prefix: string,
  location: Pick<PagesOptions, 'path' | 'confine' | 'defaultFolder'> & { readonly name: string },
): string {
  const { path = '', name, confine, defaultFolder } = location;
  if (confine !== undefined) return prefix + confine + name;
  const inSite = path === './' ? '' : path.slice(path.startsWith(prefix) ? prefix.length : 0);
  if (defaultFolder !== undefined && !inSite.includes('/')) {
    const folder = path === '' ? defaultFolder : agentPath('');
    return prefix + folder + (inSite || name);
  }
  if (path === '' || path === './') return prefix + name;
  const whole = path.endsWith('/') ? path + name : path;
  if (whole.startsWith(prefix)) return whole;
  throw new DeliveryError(
    'BAD_INPUT',
    `the site shows only the folder /${prefix.slice(0, -1)} of its branch, and ${whole} is outside`,
    { hint: (w) => `set ${w.input('path', `${prefix}${path}`)}` },
  );
}

/** @throws {DeliveryError} if the public can't open the site, or another branch builds it */
export function refuseUnusableSite(
  { branch, builtBy, isPublic }: PagesSettings,
  location: Pick<PagesOptions, 'branch'>,
): void {
  if (!isPublic) {
    throw new DeliveryError('NOT_EXTERNAL', 'only members of the organization can open the Pages site', {
      hint: (w) => `${w.person('make the site public under Settings → Pages')}${w.orUse(['K2', 'K3'])}`,
    });
  }
  const isOtherBranch = location.branch !== undefined && branch !== null && location.branch !== branch;
  if (!isOtherBranch || builtBy === 'workflow') return;
  const message = `the site is built from branch ${branch}, not from ${location.branch}`;
  throw new DeliveryError('BAD_INPUT', message, {
    hint: (w) =>
      `leave ${w.input('branch')} out; to move the site, push a branch ${location.branch} with its files first, and choose it under Settings → Pages (Deploy from a branch)`,
  });
}

export const addressOf = ({ siteRoot, rootUrl }: ServedSite, path: string): URL =>
  urlBelow(rootUrl, servedPath(siteRoot, path));

function noSiteError({ owner, repo }: RepositoryName, { branch, isRemoval = false }: PagesOptions) {
  const branchToo = (w: Words): string =>
    branch === undefined ? ` and ${w.input('branch', 'gh-pages')}` : '';
  return new DeliveryError('NOT_FOUND', `${owner}/${repo} has no Pages site`, {
    step: 'authorize',
    httpCode: 404,
    hint: (w) =>
      isRemoval
        ? `set ${w.input('branch')} to the branch that has it: its raw URL may still show it`
        : `set ${w.input('setup', 'true')}${branchToo(w)}${w.orUse(['K2', 'K3'])}`,
  });
}
