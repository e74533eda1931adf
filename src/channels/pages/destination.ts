import { DeliveryError } from '../../errors.ts';
import { knownSettings, type PagesSettings, type RepositoryContext } from '../../github/api/repository.ts';
import { defaultPagesUrl, defaultRawUrl, type RepositoryName } from '../../github/hosts.ts';
import type { Deliverer } from '../../github/workflow-run.ts';
import { lineIf } from '../../plain-text.ts';
import { decodePath, repositoryPath, urlBelow } from '../../rules/naming.ts';

import type { Words } from '../../words.ts';
import type { JobRuntime } from './deploy/job-runtime.ts';

/** What K1 needs of the inputs: fields of the `DeliveryRequest`, which is given as it is. */
export interface PagesOptions {
  readonly branch: string | undefined;
  readonly siteWorkflow: string | undefined;
  /** Path in the repository, ending in `/` for a folder. */
  readonly path: string | undefined;
  /** Of a removal: the address of what is removed, in place of a name. */
  readonly address?: URL | undefined;
  /** The folder of the site for what has no path, ending in `/`. */
  readonly defaultFolder?: string | undefined;
  /** Of a delivery whose name and content may be the words of others: the only folder that it writes to, ending in `/`. */
  readonly confine?: string | undefined;
  /** The repository that was named; absent in a check that needs none. */
  readonly repository?: RepositoryName | undefined;
  readonly pagesBase: URL | undefined;
  readonly rawBase: URL | undefined;
  /** The instance's web address; it decides where its files are served. */
  readonly serverUrl: URL;
  /** Whether a missing branch and a missing site are made. */
  readonly setup?: boolean | undefined;
  readonly isRemoval?: boolean;
  readonly essence: string;
  /** Who delivers; absent for a person on the command line. */
  readonly deliverer?: Deliverer | undefined;
  /** Whether a file that this tool did not deliver may be replaced or removed. */
  readonly overwrite: boolean;
  /** Of a site: whether owned files that are no longer part of it are removed. */
  readonly prune: boolean;
  /** How many owned folders beside each other to keep, the delivered one included; `undefined` keeps all. */
  readonly keep: number | undefined;
  /** Whether the file that switches Jekyll off is put at the root of what Pages serves. */
  readonly nojekyll: boolean;
  readonly marker: string | undefined;
  readonly picture: boolean;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
  /** What the runner gives to deploy a site; absent or `null` outside of an action. */
  readonly runtime?: JobRuntime | null;
}

/** What Pages serves, and who builds it. */
export interface ServedSite {
  /** The address of its root. */
  readonly rootUrl: URL;
  /** The folder of the branch that is served: empty for all of it, or ending in `/`. */
  readonly siteRoot: string;
  readonly builtBy: PagesSettings['builtBy'];
}

/** Where a file goes, and where it will be served. */
export interface PagesDestination extends ServedSite {
  readonly branch: string;
  /** The path of a file; that of a folder ends in `/`, or is empty for the branch's root. */
  readonly itemPath: string;
  /** The path of the file, or of a folder's entry. */
  readonly entryPath: string;
  /** The path that `pageUrl` shows: the file's, or that of the page that the site's build makes of it. */
  readonly page: string;
  readonly pageUrl: URL;
  readonly rawUrl: URL;
  /** Whether the site's build may rightly change the file. */
  readonly hostMayChangeBytes: boolean;
  /** Of a rendered page: the other files that would be served there; none of them may be on the branch. */
  readonly rivals?: readonly string[];
  readonly notes: readonly string[];
  readonly unknown: readonly string[];
  /** Whether only its members can read the repository, and so the raw address. */
  readonly isPrivate: boolean;
}

/**
 * Combines the site's settings with the inputs. @throws {DeliveryError} where the site could never show the file
 *
 * @param location with the name that counts where `path` names none, and the entry of a folder
 */
export function resolveDestination(
  repository: RepositoryName,
  location: PagesOptions & { readonly name: string; readonly entryName?: string },
  site: RepositoryContext['pagesSettings'],
  isPrivate = false,
): PagesDestination {
  const known = knownSettings(site);
  const { isRemoval, setup, pagesBase: givenBase } = location;
  // What no site shows can still be removed, from a branch that is known.
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

/** The branch that `branch` names, that the site is built from, or the protocol's. @see protocol 1 (flow per channel) */
export const targetBranch = (
  { branch }: Pick<PagesOptions, 'branch'>,
  site: RepositoryContext['pagesSettings'],
): string => branch ?? knownSettings(site)?.branch ?? 'main';

const SETTINGS_UNREADABLE =
  'the Pages settings could not be read (the permission `pages: read` is missing); the usual address was assumed';

const PRIVATE_NOTE =
  'the repository is private, and its Pages site is public: everybody can open the address';

/** The folder of the branch that a Pages site serves: empty, or such as `docs/`. */
export function rootOf(site: RepositoryContext['pagesSettings']): string {
  const folder = knownSettings(site)?.folder ?? '';
  return folder === '' ? '' : `${folder}/`;
}

/** The path as the site serves it: without the site's root folder. */
export const servedPath = (siteRoot: string, path: string): string => path.slice(siteRoot.length);

/** The path in the branch that an address shows. @throws {DeliveryError} `BAD_INPUT` for one of elsewhere */
function pathOf(
  address: URL,
  { rootUrl, siteRoot }: ServedSite,
  { path: folder = '' }: Pick<PagesOptions, 'path'>,
): string {
  const [root, given] = [decodePath(rootUrl.pathname), decodePath(address.pathname)];
  const path = siteRoot + given.slice(root.length);
  if (address.host !== rootUrl.host || !given.startsWith(root)) {
    throw new DeliveryError('BAD_INPUT', `${address.href} is not below ${rootUrl.href}`, {
      hint: (w) =>
        `set ${w.input('repository')} to the one whose site has this address, or ${w.input('url')} to the URL from the report`,
    });
  }
  if (!path.startsWith(folder.replace(/^\.\/$/, ''))) {
    throw new DeliveryError('BAD_INPUT', `${address.href} is not in ${folder}`, {
      hint: (w) => `leave ${w.input('path')} out: the address says it`,
    });
  }
  if (path !== siteRoot) repositoryPath(path.replace(/\/$/, ''), (w) => w.subject('url'));
  return path;
}

function pathBelow(
  prefix: string,
  location: Pick<PagesOptions, 'path' | 'confine' | 'defaultFolder'> & { readonly name: string },
): string {
  const { path = '', name, confine, defaultFolder = '' } = location;
  if (confine !== undefined) return prefix + confine + name;
  // `./` is the root of the site.
  if (path === '') return prefix + defaultFolder + name;
  if (path === './') return prefix + name;
  const whole = path.endsWith('/') ? path + name : path;
  if (whole.startsWith(prefix)) return whole;
  throw new DeliveryError(
    'BAD_INPUT',
    `the site shows only the folder /${prefix.slice(0, -1)} of its branch, and ${whole} is outside`,
    { hint: (w) => `set ${w.input('path', `${prefix}${path}`)}` },
  );
}

/** @throws {DeliveryError} where nobody could open the file on this site, or it is built from another branch. */
export function refuseUnusableSite(
  { branch, builtBy, isPublic }: PagesSettings,
  location: Pick<PagesOptions, 'branch'>,
): void {
  if (!isPublic) {
    throw new DeliveryError('NOT_EXTERNAL', 'only members of the organization can open the Pages site', {
      hint: (w) => `make the site public under Settings → Pages${w.orUse(['K2', 'K3'])}`,
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

/** The address of any path of the branch, a file or a folder that ends in `/`. */
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
        ? `its raw address may still show it; to remove it from its branch, set ${w.input('branch')} to that`
        : `set ${w.input('setup', 'true')}${branchToo(w)}, or switch it on under Settings → Pages (Deploy from a branch; of a private repository only with a paid plan)${w.orUse(['K2', 'K3'])}`,
  });
}
