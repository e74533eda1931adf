import { dirname, join } from 'node:path';
import type { LocalFiles } from '../browser/screen-view.ts';
import { DeliveryError } from '../errors.ts';
import { defaultPagesUrl } from '../github/hosts.ts';
import { lineIf } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import type { LocalSite } from '../rules/local-site.ts';
import { baseName, decodePath, encodePath } from '../rules/naming.ts';
import { isHtml, type SelfContained } from '../rules/page/page-file.ts';
import {
  formatSiteFindings,
  type SiteFinding,
  type SiteInspection,
  type SiteOptions,
} from '../rules/site/findings.ts';
import { findServed } from '../rules/site/site-address.ts';
import type { Text, Words } from '../words.ts';
import { isWanted } from './choose-channel.ts';
import { attemptIn, type Delivery, runStep, shownTask } from './delivery.ts';
import type { RequestContext } from './delivery-context.ts';
import { findMissingUrls } from './screen/ask-host.ts';
import { listLocalFiles } from './screen/page-to-view.ts';

const MAX_URLS = 50;

/** Checks that everything a page needs exists, here or on its host. `check` asks no host. */
export function checkPages(
  deliveries: readonly Delivery[],
  run: RequestContext,
): Promise<readonly Delivery[]> {
  const findMissing = run.request.checkOnly ? undefined : findOnHosts(listLocalFiles(deliveries), run);
  return runStep('check', deliveries, (delivery) => checkSite(delivery, run, findMissing));
}

/** Finds the URLs that the host doesn't have. */
type FindMissing = (urls: readonly URL[]) => Promise<readonly URL[]>;

function findOnHosts(local: LocalFiles, ports: Ports): FindMissing {
  const isLocal = (path: string): boolean => local(`/${path}`) !== undefined;
  return (urls) => {
    const others = urls.filter(({ pathname }) => findServed(decodePath(pathname).slice(1), isLocal) === null);
    return findMissingUrls(others.slice(0, MAX_URLS), ports);
  };
}

/**
 * Resolves every reference of a page or folder. A single page must contain everything that it shows.
 *
 * @param findMissing absent until the host is known
 * @throws {DeliveryError} `BAD_FILE` with page, line and problem; the first ten findings in full
 * @see protocol 1 (file rules: on screen), design 6
 */
export async function checkSite(
  delivery: Delivery,
  { request, signal }: Pick<RequestContext, 'request' | 'signal'>,
  findMissing?: FindMissing,
): Promise<Delivery> {
  const { site, name } = delivery;
  const entry = findPage(delivery, request);
  if (site === null || entry === null) return delivery;
  const { isFolder } = site;
  const served = shownTask(delivery)?.served;
  const location = served
    ? { sitePath: served.sitePath, origin: served.url.origin }
    : expectLocation(isFolder ? name : dirname(name), request);
  const { inspectSite } = await loadPageRules();
  const files = new Map(site.files.map((file) => [isFolder ? file.name : entry, file]));
  const inspection = await inspectSite(files, {
    ...location,
    entry,
    isFolder,
    selfContained: chooseSelfContained(delivery, request),
    signal,
  });
  const { refusals, unknown, notes, routerSetting, hasAbsolute } = served
    ? await askHost(inspection, findMissing)
    : deferUntilHostKnown(inspection, isLonePage(delivery));
  // Without access to the Pages settings, the default URL is assumed.
  const isAssumed = !!request.checkOnly && !request.pagesBase && attemptIn(delivery, 'K1') !== undefined;
  const folder = `/${decodePath(location.sitePath.slice(expectLocation('', request).sitePath.length))}`;
  const hasOtherBase = isAssumed && refusals.some((refusal) => mayBeIn(folder, refusal));
  refuseBrokenSite(delivery, site, refusals, { refusal: served?.refusal ?? null, hasOtherBase });
  const isUnknown =
    (served === undefined || isAssumed) && (hasAbsolute || (!location.origin && unknown.some(isBase)));
  const assumption = lineIf(isUnknown, describeLocation(location));
  return {
    ...delivery,
    routerSetting,
    missingUrls: unknown.flatMap(({ missing }) => missing ?? []),
    unknown: [...assumption, ...delivery.unknown, ...formatSiteFindings(unknown)],
    notes: [...delivery.notes, ...formatSiteFindings(notes)],
  };
}

/** What a page may load from other hosts. A folder usually has pages that need them. */
export function chooseSelfContained({ site }: Delivery, { selfContained }: DeliveryRequest): SelfContained {
  if (selfContained !== 'auto' && selfContained !== 'inline') return selfContained;
  return site?.isFolder ? 'warn' : 'enforce';
}

/** The name of the page or file to check; `null` for a file that neither K1 nor a link shows. */
function findPage(delivery: Delivery, request: DeliveryRequest): string | null {
  const { site, name, attempts } = delivery;
  if (site?.isFolder) return site.entry.name;
  const isOnPages = attempts.length === 0 ? isWanted('K1', request) : attemptIn(delivery, 'K1') !== undefined;
  if (site === null || !(isOnPages || isLonePage(delivery))) return null;
  // Either name may make it a page: the local name, or the name on the host.
  return isHtml(site.entry.name) && !isHtml(name) ? site.entry.name : baseName(name);
}

/** Whether a link is verified against this page alone. */
const isLonePage = (delivery: Delivery): boolean =>
  delivery.site?.isFolder === false && attemptIn(delivery, 'K4') !== undefined;

type SiteLocation = Pick<SiteOptions, 'sitePath' | 'origin'>;

/** The default location of a folder, or of a page's folder. */
function expectLocation(name: string, { repository, serverUrl, pagesBase }: DeliveryRequest): SiteLocation {
  const base = pagesBase ?? (repository && defaultPagesUrl(serverUrl, repository));
  const root = `${(base?.pathname ?? '/<repo>').replace(/\/$/, '')}/`;
  const folder = encodePath(name.replace(/^(?:\.?\/)+|\/+$/g, ''));
  return { sitePath: folder === '' ? root : `${root}${folder}/`, ...(base && { origin: base.origin }) };
}

const describeLocation = ({ sitePath, origin }: SiteLocation): string =>
  origin === undefined
    ? 'whether absolute URLs lead to files of the folder: name the repository to check this'
    : `whether the folder will be at ${origin}${sitePath}, as its absolute URLs assume`;

/** Whether the reference would be right under another base URL. */
const mayBeIn = (folder: string, { kind, path = '' }: SiteFinding): boolean =>
  kind === 'base' && `/${path}`.includes(folder);

const isBase = ({ kind }: SiteFinding): boolean => kind === 'base';

/** Without a host, only a guess could refuse a wrong base path, or a file that a link's page needs. */
function deferUntilHostKnown(
  { refusals, unknown, ...inspection }: SiteInspection,
  isLone: boolean,
): SiteInspection {
  const isUnknown = (finding: SiteFinding): boolean => isLone || isBase(finding);
  return {
    ...inspection,
    refusals: refusals.filter((finding) => !isUnknown(finding)),
    unknown: [...refusals.filter(isUnknown), ...unknown],
  };
}

/** Requests code that pages load from elsewhere on the host, and refuses missing code. */
async function askHost(inspection: SiteInspection, findMissing?: FindMissing): Promise<SiteInspection> {
  if (findMissing === undefined) return inspection;
  const { refusals, unknown } = inspection;
  const urls = [...new Set(unknown.flatMap(({ url }) => url ?? []))].map((url) => new URL(url));
  const absent = new Set((await findMissing(urls)).map(({ href }) => href));
  const isMissing = ({ url }: SiteFinding): boolean => url !== undefined && absent.has(url);
  const missing = unknown.filter(isMissing).map((finding): SiteFinding => {
    return { ...finding, kind: 'missing', text: `${finding.text}: its host doesn't have it` };
  });
  return {
    ...inspection,
    refusals: [...refusals, ...missing],
    unknown: unknown.filter((finding) => !isMissing(finding)),
  };
}

/** @param refusal why the host would change or skip files */
function refuseBrokenSite(
  { subject, isTemporary }: Delivery,
  site: LocalSite,
  findings: readonly SiteFinding[],
  { refusal, hasOtherBase }: { readonly refusal: DeliveryError | null; readonly hasOtherBase: boolean },
): void {
  if (findings.length === 0 && refusal === null) return;
  if (findings.length === 0) throw refusal;
  const [kind, ...otherKinds] = new Set(findings.map((finding) => finding.kind));
  const problem =
    (otherKinds.length === 0 && kind && PROBLEMS[kind]) ||
    `is not ${site.isFolder ? 'complete' : 'self-contained'}`;
  const hint = findings.find((finding) => finding.hint !== undefined)?.hint;
  // Content from a pipe has no neighbours.
  const levels = isTemporary ? -1 : Math.max(...findings.map((finding) => finding.levels ?? -1));
  const ways = describeWays(subject, site, findings, { levels, hint });
  const further: readonly Text[] = [
    ...(hasOtherBase
      ? [(w: Words) => `if the site has its own domain, set ${w.input('pages-base')} to it`]
      : []),
    ...(refusal === null ? [] : [refusal.advice ?? '']),
  ];
  const named = site.isFolder ? findings : findings.map((finding) => ({ ...finding, file: '' }));
  throw new DeliveryError('BAD_FILE', `${site.isFolder ? 'the folder ' : ''}${subject} ${problem}`, {
    hint: (w) => [ways, ...further].map(w.say).join('; '),
    leftBehind: [],
    findings: [...formatSiteFindings(named, hint), ...(refusal === null ? [] : [refusal.message])],
  });
}

/** What is wrong with a file or folder in which all findings are of one kind. */
const PROBLEMS: Readonly<Partial<Record<SiteFinding['kind'], string>>> = {
  cut: 'was cut short',
  broken: 'is broken',
  source: 'shows the source of a page, or text around it',
  encoding: 'has text that would be unreadable',
};

/** What to change, or which folder to deliver instead: at most two ways, the likeliest first. */
function describeWays(
  subject: string,
  { isFolder, entry }: LocalSite,
  findings: readonly SiteFinding[],
  { levels, hint }: { readonly levels: number; readonly hint: string | undefined },
): Text {
  const depth = levels + entry.name.split('/').length - 1;
  const names = (isFolder ? join(subject, entry.name) : subject).split(/[\\/]/);
  const page = names.splice(-1 - depth);
  const isNamed = names.length > 0 && !names.includes('..');
  const folder = isNamed ? `the folder ${names.join('/')}/` : 'a folder that has the page and these files';
  const withEntry = (w: Words) => (page.length > depth ? `, with ${w.input('entry', page.join('/'))}` : '');
  const areOnHosts = findings.every(({ kind }) => kind === 'host');
  const canInline = findings.every(({ kind, levels: up }) => kind === 'host' || (up === 0 && levels === 0));
  const other = isFolder
    ? 'add the missing files to the folder, or correct the URLs'
    : 'write everything that it needs into the page';
  return (w) =>
    [
      !isFolder && isHtml(entry.name) && canInline ? `set ${w.input('self-contained', 'inline')}` : '',
      hint ?? '',
      levels < 0 ? '' : `deliver ${folder}${withEntry(w)}`,
      areOnHosts
        ? `set ${w.input('self-contained', 'warn')} to publish it as it is`
        : hint === undefined && levels < 0
          ? other
          : '',
    ]
      .filter((way) => way !== '')
      .slice(0, 2)
      .join(', or ');
}
