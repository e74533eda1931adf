import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserDriver, ScreenView } from '../../src/browser/screen-view.ts';
import { judgeView } from '../../src/delivery/screen/screen-report.ts';
import { SCREEN } from '../../src/protocol/limits.ts';
import { readVisibleText } from '../../src/rules/page/visible-text.ts';
import { formatSiteFindings } from '../../src/rules/site/findings.ts';
import { inspect } from '../rules/site/sites.ts';
import { BLANK_PAGES, COMMON_FILES, type CorpusPage, fileOf, REPORTED_PAGES, SHOWN_PAGES } from './corpus.ts';
import { createTestHost, createTestScreen } from './test-host.ts';

const HOST = 'https://octo.github.io';
const PAGES = new Map([...BLANK_PAGES, ...SHOWN_PAGES, ...REPORTED_PAGES].map((page) => [page.name, page]));

/** `/name/page` is the page itself, `/name/file` one of its files, on all hosts but one. */
const host = createTestHost(({ hostname, pathname }) => {
  if (hostname === 'unreachable.dev') throw new Error('the host does not answer');
  const [, name = '', file = ''] = pathname.split('/');
  const found =
    file === 'page' ? PAGES.get(name)?.page : (PAGES.get(name)?.files?.[file] ?? COMMON_FILES[file]);
  if (found === undefined) return { status: 404, body: 'not found' };
  const {
    type = 'text/html; charset=utf-8',
    headers,
    ...answer
  } = typeof found === 'string' ? { body: found } : found;
  if (answer.body === undefined) return null;
  return { ...answer, headers: { 'content-type': type, ...headers } };
});

/** Opens the pages one after the other. */
async function viewInTurn(
  pages: readonly CorpusPage[],
  start: () => Promise<BrowserDriver>,
  renderTime?: number,
): Promise<[string, ScreenView][]> {
  const viewer = await start();
  const seen: [string, ScreenView][] = [];
  for (const { name, marker, page } of pages) {
    const ownText = typeof page === 'string' ? readVisibleText(page).slice(0, SCREEN.text) : undefined;
    const wanted = { url: `${HOST}/${name}/page`, marker, ownText, renderTime };
    seen.push([name, await viewer.view(wanted, new AbortController().signal)]);
  }
  await viewer.close();
  return seen;
}

/** A real browser's verdict on pages of the corpus, by their names. */
export async function viewPages(pages: readonly CorpusPage[]): Promise<ReadonlyMap<string, ScreenView>> {
  const folder = await mkdtemp(join(tmpdir(), 'screen-delivery-'));
  const start = (): Promise<BrowserDriver> => createTestScreen({ http: host, tempFolder: folder });
  const isQuick = (page: CorpusPage): boolean => BLANK_PAGES.includes(page) && !page.isPatient;
  const quick = pages.filter(isQuick);
  try {
    // A blank page must not take ten seconds here; most of the time these only wait.
    const seen = await Promise.all([
      viewInTurn(
        pages.filter((page) => !isQuick(page)),
        start,
      ),
      ...[0, 1].map((part) =>
        viewInTurn(
          quick.filter((_page, index) => index % 2 === part),
          start,
          1_200,
        ),
      ),
    ]);
    return new Map(seen.flat());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a report says of each page: why it is refused before publishing, or otherwise all that UNKNOWN names. */
export async function reportPages(pages: readonly CorpusPage[]): Promise<ReadonlyMap<string, string>> {
  const inspected = await Promise.all(pages.map(inspectPage));
  const views = await viewPages(pages.filter((_, at) => inspected[at]?.refusals.length === 0));
  return new Map(
    pages.map(({ name, mode }, at) => {
      const { refusals = [], unknown = [] } = inspected[at] ?? {};
      const view = views.get(name);
      const seen = view && judgeView(view, false, mode === 'enforce');
      const refused = [...formatSiteFindings(refusals), ...(seen?.failure ? [seen.failure.message] : [])];
      const open = [...formatSiteFindings(unknown), ...(seen?.unknown ?? [])];
      const said = refused.length > 0 ? `refused: ${refused.join('; ')}` : `unknown: ${open.join('; ')}`;
      return [name, said];
    }),
  );
}

function inspectPage({ mode = 'enforce', ...page }: CorpusPage) {
  const [entry, body] = fileOf(page);
  return inspect({ [entry]: body }, { entry, isFolder: false, selfContained: mode });
}

/** Whether all that must be said of a page was said. Nothing must be said after a colon at the end. */
export const isSaid = (says = '', said = ''): boolean =>
  says.endsWith(':') ? said.trim() === says : says.split(' & ').every((part) => said.includes(part));
