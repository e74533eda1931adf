import { DeliveryError } from '../../../errors.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { getBrowserDisplay } from '../../../rules/browser-display.ts';
import { buildWithJekyll, isLeftOutByJekyll } from '../../../rules/jekyll.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import { refuseSpecialFile } from '../../../rules/special-files.ts';
import type { Words } from '../../../words.ts';
import type { PreparedTask, ServedFolder } from '../../channel.ts';
import {
  addressOf,
  type FileLookup,
  folderPrefix,
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
  servedPath,
} from '../destination.ts';
import { listPictureUrls } from '../pictures.ts';
import type { SetupPlan } from '../set-up.ts';
import {
  type CommitTarget,
  type FolderSettings,
  type FolderTarget,
  folderTarget,
  readTargetTree,
} from '../target.ts';
import { refuseUnwritable } from '../write-changes.ts';
import { planSite } from './plan-site.ts';
import { describeChanges, entryUrl, type SiteTask } from './publish-site.ts';

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
type PreparedSite = PreparedTask<SiteTask> & Required<Pick<PreparedTask<SiteTask>, 'servedAt' | 'served'>>;

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
  const siteRoot = folderPrefix(destination.folder);
  return {
    ...describePlace(destination, { folder, siteRoot, entry: site.entry, refusal }),
    plan: {
      channel: 'K1',
      method: 'one commit for the folder',
      destination: `branch ${branch}, folder ${folder || './'}`,
      name: folder || './',
      claim: 'opens on the screen',
    },
    data: {
      target: folderTarget({ ...target, branch }, folder, siteRoot, options),
      path: destination.path,
      file: null,
      destination,
      setup,
      site,
    },
  };
}

/** Where a folder and its entry will be served. */
function describePlace(
  destination: PagesDestination,
  {
    folder,
    siteRoot,
    entry,
    refusal,
  }: Required<Pick<ServedFolder, 'refusal'>> &
    Pick<LocalSite, 'entry'> &
    Pick<FolderTarget, 'folder' | 'siteRoot'>,
): Pick<PreparedSite, 'served' | 'servedAt'> {
  const { pageUrl } = destination;
  const sitePath = addressOf(destination, folder).pathname;
  const rootPath = addressOf(destination, siteRoot).pathname;
  const pictureUrls = listPictureUrls(pageUrl);
  return {
    servedAt: { sitePath, rootPath, origin: pageUrl.origin, refusal },
    served: { url: entryUrl(pageUrl), display: getBrowserDisplay(entry), isServedAsIs: true, pictureUrls },
  };
}

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

/** Where a folder goes that has only a name: below what the site is built from. */
const rootOf = (pages: RepositoryContext['site']): string =>
  typeof pages === 'object' && pages !== null && pages.folder !== '' ? `${pages.folder}/` : '';

/** What a delivery of the folder would do; reads only. */
export async function previewSite({ target, site }: SiteTask, ports: Pick<Ports, 'signal'>): Promise<string> {
  const plan = await planSite(site, target, await readTargetTree(target));
  const { change, commitSha } = plan;
  if (change === undefined) return `commit ${commitSha} already holds this site`;
  await refuseUnwritable(change, target, ports);
  const [subject] = change.message.split('\n');
  return `${subject} (${describeChanges(plan).join('; ')})`;
}

/** `BAD_INPUT` that names both ways out; `null` where Jekyll changes nothing. */
async function findJekyllRefusal(
  { files }: LocalSite,
  folder: string,
  { branch, folder: root }: PagesDestination,
  exists: FileLookup,
): Promise<DeliveryError | null> {
  const served = servedPath(root, folder);
  const changed = files
    .map(({ path, file: { head } }) => ({ path, ...buildWithJekyll(served + path, head) }))
    .filter(({ isCopied }) => !isCopied);
  if (changed.length === 0) return null;
  const leftOut = changed.flatMap(({ path, page }) => (page === null ? [path] : []));
  const rendered = changed.flatMap(({ path, page }) => (page === null ? [] : [path]));
  const switchFile = `${folderPrefix(root)}.nojekyll`;
  if (await exists(branch, switchFile)) return null;
  const isFolderLeftOut = isLeftOutByJekyll(served.replace(/\/$/, ''));
  const problems = [
    ...(leftOut.length === 0
      ? []
      : [`leaves out ${isFolderLeftOut ? `the folder ${folder}` : nameFew(leftOut)}`]),
    ...(rendered.length === 0 ? [] : [`renders ${nameFew(rendered)}`]),
  ];
  const other = (w: Words) =>
    isFolderLeftOut ? `set ${w.input('path', toSeenFolder(folder))}` : 'rename these files';
  return new DeliveryError('BAD_INPUT', `Jekyll, which builds this Pages site, ${problems.join(', and ')}`, {
    step: 'check',
    hint: (w) =>
      `set ${w.input('nojekyll', 'true')}, which commits an empty ${switchFile} and ends Jekyll for the whole site, or ${other(w)}`,
    leftBehind: [],
  });
}

/** The folder under names that Jekyll does not leave out. */
function toSeenFolder(folder: string): string {
  const seen = folder.replace(/(?<=^|\/)[_.#~]+/gu, '').replace(/~+(?=\/|$)/gu, '');
  return /^(?:\/|vendor\/|node_modules\/)|\/\//.test(seen)
    ? `site/${seen.replace(/^\/|\/(?=\/)/gu, '')}`
    : seen;
}
