import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getBlobSha } from '../../github/api/contents.ts';
import type { PagesSite } from '../../github/api/pages-site.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { defaultRawUrl, defaultSiteUrl, type RepositoryName } from '../../github/hosts.ts';
import { isLeftOutByJekyll, MARKDOWN, mayBeRendered } from '../../rules/jekyll.ts';
import { encodePath } from '../../rules/naming.ts';

/** What was asked for, as far as it decides where the file goes. */
export interface PagesLocation {
  readonly branch: string | undefined;
  /** Path in the repository, ending in `/` for a folder. */
  readonly path: string | undefined;
  readonly pagesBase: URL | undefined;
  readonly rawBase: URL | undefined;
  /** Where the instance's pages for people are; it decides where its files are served. */
  readonly serverUrl: URL;
}

/** Where the file goes and where it will be served. */
export interface PagesDestination {
  readonly branch: string;
  readonly path: string;
  readonly pageUrl: URL;
  readonly rawUrl: URL;
  readonly builtBy: 'branch' | 'workflow';
  /** Whether the site's build may rightly change the file. */
  readonly hostMayChangeBytes: boolean;
  /** What a person should know of the page. */
  readonly notes: readonly string[];
  /** The site's root folder in the branch: empty, or such as `docs`. */
  readonly folder: string;
  /** What had to be assumed. */
  readonly unknown: readonly string[];
}

/** The protocol's branch where no site names another. @see protocol 1 (flow per channel) */
const USUAL_BRANCH = 'main';

/**
 * The site's settings and the wishes together.
 *
 * @param wishes with the name to give where `path` names none
 * @throws {DeliveryError} where the site could never show the file, with what to change.
 */
export function resolveDestination(
  github: RepositoryName,
  wishes: PagesLocation & { readonly name: string },
  site: RepositoryContext['site'],
): PagesDestination {
  const known = site === 'unreadable' || site === 'unasked' ? null : site;
  if (site === null && wishes.pagesBase === undefined) throw noSiteError(github);
  if (known !== null && wishes.pagesBase === undefined) refuseUnservedBranch(known, wishes);
  const branch = wishes.branch ?? known?.branch ?? USUAL_BRANCH;
  const folder = known?.folder ?? '';
  const path = pathIn(folder, wishes);
  const served = folder === '' ? path : path.slice(folder.length + 1);
  const pagesBase = wishes.pagesBase ?? known?.base ?? defaultSiteUrl(wishes.serverUrl, github);
  const rawRoot = defaultRawUrl(wishes.serverUrl, github, known?.base);
  const rawBase = wishes.rawBase ?? urlBelow(rawRoot, branch);
  return {
    branch,
    path,
    folder,
    pageUrl: urlBelow(pagesBase, served),
    rawUrl: urlBelow(rawBase, path),
    builtBy: known?.builtBy ?? 'branch',
    hostMayChangeBytes: false,
    notes: [],
    unknown:
      site === 'unreadable'
        ? [
            'the Pages settings could not be read (`permissions: { pages: read }`); the usual address was taken',
          ]
        : [],
  };
}

function pathIn(
  folder: string,
  { path = '', name }: Pick<PagesLocation, 'path'> & { readonly name: string },
): string {
  const prefix = folder === '' ? '' : `${folder}/`;
  if (path === '') return prefix + name;
  const whole = path.endsWith('/') ? path + name : path;
  if (whole.startsWith(prefix)) return whole;
  throw new DeliveryError(
    'BAD_INPUT',
    `the site shows only the folder /${folder} of its branch, and ${whole} is outside`,
    {
      step: 'check',
      hint: `set \`path: ${prefix}${whole}\``,
    },
  );
}

function refuseUnservedBranch({ branch, builtBy, isPublic }: PagesSite, wishes: PagesLocation): void {
  if (!isPublic) {
    throw new DeliveryError('NOT_EXTERNAL', 'the Pages site opens only for members of the organisation', {
      hint: 'make the site public under Settings → Pages, or use channel: K2 or K3',
    });
  }
  if (wishes.branch === undefined || branch === null || builtBy === 'workflow' || wishes.branch === branch) {
    return;
  }
  throw new DeliveryError('BAD_INPUT', `the site is built from branch ${branch}, not from ${wishes.branch}`, {
    step: 'check',
    hint: `set \`branch: ${branch}\`, or leave it out`,
  });
}

/** Whether a branch holds the file that switches Jekyll off; asked once for all files. */
export function createJekyllLookup(github: GitHubClient): (branch: string, path: string) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>();
  return (branch, path) => {
    const stands = asked.get(path) ?? getBlobSha(github, { branch, path }).then((blob) => blob !== null);
    asked.set(path, stands);
    return stands;
  };
}

/**
 * What Jekyll makes of the file, where it builds the site: it leaves some names out, and renders Markdown
 * and files with front matter. A `.nojekyll` at the site's root keeps it away.
 *
 * @param head the file's first bytes
 * @param stands whether the branch holds a file at the path
 * @throws {DeliveryError} `BAD_INPUT` where the address would never show the file.
 */
export async function applyJekyll(
  destination: PagesDestination,
  head: string,
  hasMarker: boolean,
  stands: (branch: string, path: string) => Promise<boolean>,
): Promise<PagesDestination> {
  const { branch, path, folder, builtBy, pageUrl } = destination;
  const served = folder === '' ? path : path.slice(folder.length + 1);
  const leftOut = isLeftOutByJekyll(served);
  if (builtBy === 'workflow') return { ...destination, hostMayChangeBytes: true };
  if (!leftOut && !mayBeRendered(served, head)) return destination;
  const switchFile = folder === '' ? '.nojekyll' : `${folder}/.nojekyll`;
  if (await stands(branch, switchFile)) return destination;
  const hint = (else_: string): string => `${else_}, or commit an empty ${switchFile}`;
  if (leftOut) {
    throw new DeliveryError('BAD_INPUT', `Jekyll leaves ${served} out of the site because of its name`, {
      step: 'check',
      hint: hint('set `path:` to a name that does not begin with _ . or # and does not end with ~'),
    });
  }
  if (!hasMarker) {
    throw new DeliveryError(
      'BAD_INPUT',
      `Jekyll renders ${served}, so that the page has other bytes than the file`,
      {
        step: 'check',
        hint: hint('set `marker:` to a text that the page keeps'),
      },
    );
  }
  const page = new URL(pageUrl.href.replace(MARKDOWN, '.html'));
  return {
    ...destination,
    pageUrl: page,
    hostMayChangeBytes: true,
    notes: [`Jekyll renders ${served} into this page`],
  };
}

function urlBelow(base: URL, path: string): URL {
  return new URL(`${base.href.replace(/\/$/, '')}/${encodePath(path)}`);
}

function noSiteError({ owner, repo }: RepositoryName): DeliveryError {
  return new DeliveryError('NOT_FOUND', `${owner}/${repo} has no Pages site`, {
    step: 'authorize',
    httpCode: 404,
    hint: 'switch it on under Settings → Pages (Deploy from a branch), or use channel: K2 or K3',
  });
}
