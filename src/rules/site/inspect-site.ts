import { isHtml } from '../page/page-file.ts';
import { FindingCollector } from './findings.ts';
import { describeBase, describeRouter, findGenerator } from './generators.ts';
import type { SiteState } from './judge-reference.ts';
import { createNearNames } from './near-names.ts';
import { createQueue, enqueueFile, searchQueue } from './search-site.ts';
import { createAddressResolver } from './site-address.ts';
import type { SiteFiles, SiteFinding, SiteInspection, SiteOptions } from './site-files.ts';

/**
 * Resolves every reference of a folder as a browser would that opens its pages on GitHub Pages.
 *
 * Refused is a page that misses its code: the entry, each page that a page links to or shows in a frame, each page at
 * the top of the folder, and each `index.html`. Anything else that is missing, and what other files miss, is a note: a
 * page that nothing links to may be an attachment, such as a saved page in a test report.
 *
 * One text is read at a time, at most 32 MB of it; other files are not read.
 *
 * @throws the reason of the signal, or what reading a file throws
 * @see design 6
 */
export async function inspectSite(files: SiteFiles, options: SiteOptions): Promise<SiteInspection> {
  const state: SiteState = {
    files,
    options,
    resolver: createAddressResolver(options),
    nearNames: createNearNames(files.keys()),
    refusals: new FindingCollector(),
    notes: new FindingCollector(),
    generators: new Map(),
    hasRightBase: false,
    hasScript: false,
    topFolders: new Set(
      [...files.keys()].filter((path) => path.includes('/')).map((path) => path.replace(/\/.*/s, '')),
    ),
  };
  const queue = createQueue();
  enqueueFile(state, queue, options.entry, 'code');
  for (const path of files.keys()) if (isOpenedPage(path)) enqueueFile(state, queue, path, 'code');
  await searchQueue(state, queue);
  for (const path of files.keys()) if (!queue.searched.has(path)) enqueueFile(state, queue, path, 'later');
  await searchQueue(state, queue);
  const paths = [...files.keys()];
  const findMaker = (page: string) => findGenerator(state.generators.get(page) ?? '', paths);
  const describe = (page: string) => describeBase(findMaker(page), options.sitePath, state.hasRightBase);
  const nameBase = (finding: SiteFinding): SiteFinding =>
    finding.kind === 'base' ? { ...finding, hint: finding.hint ?? describe(finding.file) } : finding;
  return {
    refusals: state.refusals.list().map(nameBase),
    notes: state.notes.list().map(nameBase),
    hasAbsolute: state.hasRightBase,
    routerSetting: describeRouter(state.hasScript, findMaker(options.entry), options.sitePath),
  };
}

/** Pages that a host shows for addresses without a page: their addresses are made for another place. */
const FALLBACK_PAGE = /^(?:200|404)\.html$/i;

/** Whether a person may open the page by its address. */
function isOpenedPage(path: string): boolean {
  if (!isHtml(path) || FALLBACK_PAGE.test(path)) return false;
  return !path.includes('/') || path.endsWith('/index.html');
}
