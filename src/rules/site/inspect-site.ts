import { isHtml } from '../page/page-file.ts';
import { createBaseEvidence, describeBase } from './base-path.ts';
import { FindingCollector } from './findings.ts';
import { findGenerator } from './generators.ts';
import type { SiteState } from './judge-reference.ts';
import { createNearNames } from './near-names.ts';
import { describeRouter } from './routers.ts';
import { createQueue, enqueueFile, readSiteText, searchQueue } from './search-site.ts';
import { createAddressResolver } from './site-address.ts';
import type { SiteFiles, SiteFinding, SiteInspection, SiteOptions } from './site-files.ts';
import { createRuleUse } from './used-rules.ts';

/**
 * Resolves every reference of a folder as a browser would that opens its pages on GitHub Pages.
 *
 * Refused is what a browser would miss while it opens a page: the entry, each page that a page links to or shows in
 * a frame, each page at the top of the folder, and each `index.html`. What may load later, links, and what other
 * files miss are notes: a page that nothing links to may be an attachment, such as a saved page in a test report.
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
    generator: '',
    base: createBaseEvidence(),
    router: { isFound: false, isTold: false },
    topFolders: new Set(
      [...files.keys()].filter((path) => path.includes('/')).map((path) => path.replace(/\/.*/s, '')),
    ),
  };
  const queue = createQueue();
  enqueueFile(state, queue, options.entry, 'start');
  for (const path of files.keys()) if (isOpenedPage(path)) enqueueFile(state, queue, path, 'start');
  await searchQueue(state, queue);
  const unused = await takeUnused(state, queue.searched);
  for (const path of files.keys()) if (!queue.searched.has(path)) enqueueFile(state, queue, path, 'later');
  await searchQueue(state, queue);
  return {
    refusals: nameBase(state, state.refusals.list()),
    notes: [...unused, ...state.notes.list()],
    hasAbsolute: state.base.hasRightAddress,
    routerSetting: describeRouter(
      state.router,
      findGenerator(state.generator, files.keys()),
      options.sitePath,
    ),
  };
}

/** A browser loads nothing for a rule of a style sheet that matches nothing: such findings become notes. */
async function takeUnused(state: SiteState, searched: ReadonlySet<string>): Promise<readonly SiteFinding[]> {
  const rules = state.refusals.listRules();
  if (rules.length === 0) return [];
  const use = createRuleUse(rules);
  for (const path of searched) {
    state.options.signal?.throwIfAborted();
    const isStyle = /\.css$/i.test(path);
    if (!isStyle && !isHtml(path) && !/\.(?:m?js|svg)$/i.test(path)) continue;
    const text = await readSiteText(state, path);
    if (isStyle) use.readStyles(text);
    else use.readPage(text, isHtml(path));
  }
  return state.refusals.takeUnused(use.isUsed).map((finding) => ({
    ...finding,
    kind: 'later-missing',
    text: `${finding.text}, but no page surely uses its rule`,
  }));
}

/** Pages that a host shows for addresses without a page: their addresses are made for another place. */
const FALLBACK_PAGE = /^(?:200|404)\.html$/i;

/** Whether a person may open the page by its address. */
function isOpenedPage(path: string): boolean {
  if (!isHtml(path) || FALLBACK_PAGE.test(path)) return false;
  return !path.includes('/') || path.endsWith('/index.html');
}

/** Says how many files have the wrong base, and what to set for the generator. */
function nameBase(state: SiteState, findings: readonly SiteFinding[]): readonly SiteFinding[] {
  const { files, options, generator, base } = state;
  const { size } = base.wrongFiles;
  return findings.map((finding) => {
    if (finding.kind !== 'base') return finding;
    const others = size > 1 ? `, and so do others in ${size} files` : '';
    const hint = describeBase(findGenerator(generator, files.keys()), base, options.sitePath);
    return { ...finding, text: `${finding.text}${others}`, hint };
  });
}
