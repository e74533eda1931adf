import { DeliveryError } from '../../../errors.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { getBrowserDisplay } from '../../../rules/browser-display.ts';
import { isLeftOutByJekyll } from '../../../rules/jekyll.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import { encodePath } from '../../../rules/naming.ts';
import { findJekyllNames } from '../../../rules/site/jekyll-names.ts';
import { refuseSpecialFile } from '../../../rules/special-files.ts';
import type { ChannelPlan, PagePictures, PreparedTask, ServedFile, ServedFolder } from '../../channel.ts';
import type { CommitTarget } from '../commit-methods.ts';
import {
  type FileLookup,
  folderPrefix,
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
  servedPath,
} from '../destination.ts';
import { listPictures, listPictureUrls, placePictures } from '../pictures.ts';
import type { SetupPlan } from '../set-up.ts';
import { readTargetTree } from './branch-tree.ts';
import { isDone, planSite } from './plan-site.ts';
import { describeChanges, entryUrl, type SiteTask } from './publish-site.ts';
import type { FolderSettings } from './site-target.ts';
import { refuseUnwritable } from './write-site.ts';

/** A folder as it comes to the channel. */
interface GivenSite {
  readonly site: LocalSite;
  /** The folder that it gets. */
  readonly name: string;
  readonly target: Omit<CommitTarget, 'branch'>;
  /** What has to be set up first; absent or `null` where nothing has. */
  readonly setup?: SetupPlan | null;
}

/** What is prepared for one folder. */
export interface PreparedSite {
  readonly servedAt: ServedFolder;
  readonly served: ServedFile;
  readonly withPictures: NonNullable<PreparedTask<PreparedSite['data']>['withPictures']>;
  readonly plan: ChannelPlan;
  readonly data: {
    readonly target: CommitTarget;
    readonly path: string;
    readonly file: null;
    readonly destination: PagesDestination;
    readonly setup: SetupPlan | null;
    readonly site: SiteTask;
  };
}

/**
 * Where a folder goes, and what the site would make of its names.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what would change the whole site.
 * @see design 6
 */
export async function prepareSite(
  { site, name, target, setup = null }: GivenSite,
  options: PagesLocation & FolderSettings,
  pages: RepositoryContext['site'],
  exists: FileLookup,
): Promise<PreparedSite> {
  const destination = resolveSite({ site, name, target }, options, pages);
  const { branch } = destination;
  const folder = destination.path.slice(0, -site.entry.length);
  for (const one of target.overwrite ? [] : site.files) {
    refuseSpecialFile(folder + one.path, destination.folder);
  }
  const isJekyll = destination.builtBy === 'branch' && !options.nojekyll;
  const refusal = isJekyll ? await findJekyllRefusal(site, folder, destination, exists) : null;
  const { prune, keep, nojekyll } = options;
  const siteRoot = folderPrefix(destination.folder);
  const siteTarget = { ...target, branch, folder, siteRoot, options: { prune, keep, nojekyll } };
  const plan = describePlan(branch, folder || './');
  const task = { target: siteTarget, site, destination };
  const data = { target: siteTarget, path: destination.path, file: null, destination, setup, site: task };
  return {
    servedAt: { ...describeAddress(destination, site.entry), refusal },
    served: {
      url: entryUrl(destination.pageUrl),
      display: getBrowserDisplay(site.entry),
      isServedAsIs: true,
      pictureUrls: listPictureUrls(destination.pageUrl),
    },
    plan,
    data,
    withPictures(pictures) {
      const whole = addPictures(site, pictures);
      const placed = placePictures(pictures, destination.pageUrl);
      return { plan, data: { ...data, site: { ...task, site: whole, pictures: placed } }, site: whole };
    },
  };
}

const describePlan = (branch: string, folder: string): ChannelPlan => ({
  channel: 'K1',
  method: 'one commit for the folder',
  destination: `branch ${branch}, folder ${folder}`,
  name: folder,
  claim: 'opens on the screen',
});

/** Where the entry of the folder goes. */
function resolveSite(
  { site, name, target }: Omit<GivenSite, 'setup'>,
  options: PagesLocation,
  pages: RepositoryContext['site'],
): PagesDestination {
  const below = name.endsWith('/') ? name : `${name}/`;
  const root = options.path === undefined ? rootOf(pages) : '';
  const path = below.startsWith(root) ? below : root + below;
  return resolveDestination(target.github.repository, { ...options, path, name: site.entry }, pages);
}

/** @throws {DeliveryError} `BAD_INPUT` where a file of the folder has such a name already */
function addPictures(site: LocalSite, pictures: PagePictures): LocalSite {
  const added = listPictures(pictures, site.entry);
  const names = new Set(added.map(({ path }) => path));
  const taken = site.files.find(({ path }) => names.has(path));
  if (taken !== undefined) {
    throw new DeliveryError('BAD_INPUT', `the folder has a file ${taken.path}, where the picture goes`, {
      step: 'check',
      hint: 'give that file another name, or set `picture: false`',
      leftBehind: [],
    });
  }
  const files = [...site.files, ...added].sort((one, other) => (one.path < other.path ? -1 : 1));
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return { ...site, files, size, pictures: [...names] };
}

/** Where a folder goes that has only a name: below what the site is built from. */
const rootOf = (pages: RepositoryContext['site']): string =>
  typeof pages === 'object' && pages !== null && pages.folder !== '' ? `${pages.folder}/` : '';

/** The paths that a browser sees: what comes before the entry page, and before everything in the site. */
function describeAddress({ pageUrl, path, folder }: PagesDestination, entry: string): ServedFolder {
  const page = pageUrl.pathname;
  const served = servedPath(folder, path);
  return {
    sitePath: page.slice(0, -encodePath(entry).length),
    rootPath: page.slice(0, -encodePath(served).length),
    origin: pageUrl.origin,
  };
}

/** What a delivery of the folder would do; reads only. */
export async function previewSite({ target, site }: SiteTask, ports: Pick<Ports, 'signal'>): Promise<string> {
  const plan = await planSite(site, target, await readTargetTree(target));
  if (isDone(plan)) return `commit ${plan.lastCommit} already holds this site`;
  await refuseUnwritable(plan, target, ports);
  const subject = plan.message.split('\n')[0] ?? '';
  return `${subject} (${describeChanges(plan).join('; ')})`;
}

/** `BAD_INPUT` that names both ways out; `null` where Jekyll changes nothing. */
async function findJekyllRefusal(
  { files }: LocalSite,
  folder: string,
  { branch, folder: root }: PagesDestination,
  exists: FileLookup,
): Promise<DeliveryError | null> {
  const heads = files.map(({ path, file: { head } }) => ({ path, head }));
  const served = servedPath(root, folder).replace(/\/$/, '');
  const { leftOut, rendered } = findJekyllNames(heads, served);
  if (leftOut.length + rendered.length === 0) return null;
  const switchFile = `${folderPrefix(root)}.nojekyll`;
  if (await exists(branch, switchFile)) return null;
  const isFolderLeftOut = isLeftOutByJekyll(served);
  const problems = [
    ...(leftOut.length === 0
      ? []
      : [`leaves out ${isFolderLeftOut ? `the folder ${folder}` : nameFew(leftOut)}`]),
    ...(rendered.length === 0 ? [] : [`renders ${nameFew(rendered)}`]),
  ];
  const other = isFolderLeftOut ? `set \`path: ${toSeenFolder(folder)}\`` : 'rename these files';
  return new DeliveryError('BAD_INPUT', `Jekyll, which builds this Pages site, ${problems.join(', and ')}`, {
    step: 'check',
    hint: `set \`nojekyll: true\`, which commits an empty ${switchFile} and ends Jekyll for the whole site, or ${other}`,
    leftBehind: [],
  });
}

/** The folder under names that Jekyll does not leave out. */
function toSeenFolder(folder: string): string {
  const seen = folder.replace(/(?<=^|\/)[_.#]+/gu, '').replace(/~+(?=\/|$)/gu, '');
  return /^(?:\/|vendor\/|node_modules\/)|\/\//.test(seen)
    ? `site/${seen.replace(/^\/|\/(?=\/)/gu, '')}`
    : seen;
}
