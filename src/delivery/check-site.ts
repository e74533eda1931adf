import { dirname, join } from 'node:path';
import type { LocalFiles } from '../browser/screen-view.ts';
import { DeliveryError } from '../errors.ts';
import { defaultSiteUrl } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import type { LocalSite } from '../rules/local-site.ts';
import { baseName, encodePath } from '../rules/naming.ts';
import { isHtml } from '../rules/page/page-file.ts';
import type { SiteInspection, SiteOptions } from '../rules/site/findings.ts';
import { formatSiteFindings, type SiteFinding } from '../rules/site/findings.ts';
import { decodePath, findServed } from '../rules/site/site-address.ts';
import type { Text } from '../words.ts';
import { isWanted } from './choose-channel.ts';
import { attemptIn, type Delivery, runStep, shownTask } from './delivery.ts';
import { findMissingUrls } from './screen/ask-host.ts';
import { listLocalFiles } from './screen/local-files.ts';

/** How many addresses a host is asked for. */
const MAX_ASKED = 50;

/** Checks what pages need, with what their hosts have. A check alone asks no host. */
export function checkPages(
  deliveries: readonly Delivery[],
  request: DeliveryRequest,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const findMissing = request.checkOnly ? undefined : findOnHosts(listLocalFiles(deliveries), ports);
  return runStep('check', deliveries, (one) => checkSite(one, request, ports.signal, findMissing));
}

/** Those of the addresses on the host of a page that lead to nothing. */
type FindMissing = (urls: readonly URL[]) => Promise<readonly URL[]>;

/** Asks the hosts for what the step itself does not deliver. */
function findOnHosts(local: LocalFiles, ports: Ports): FindMissing {
  const isLocal = (path: string): boolean => local(`/${path}`) !== undefined;
  return (urls) => {
    const others = urls.filter(({ pathname }) => findServed(decodePath(pathname).slice(1), isLocal) === null);
    return findMissingUrls(others.slice(0, MAX_ASKED), ports);
  };
}

/**
 * Resolves every reference of a page, or of the pages of a folder: what they miss when they open refuses the whole, and
 * so does a page that could not be read. A page that is delivered alone must contain all that it shows.
 *
 * @param findMissing absent while the host is not known
 * @throws {DeliveryError} `BAD_FILE` with page, line and what is wrong, the first ten findings in full.
 * @see protocol 1 (file rules: on screen), design 6
 */
export async function checkSite(
  delivery: Delivery,
  request: DeliveryRequest,
  signal: AbortSignal,
  findMissing?: FindMissing,
): Promise<Delivery> {
  const { site, name } = delivery;
  if (site === null || !isForScreen(delivery, request)) return delivery;
  const { isFolder } = site;
  // A browser may take either name for a page's: the file's own, or the one that it gets on the host.
  const entry = !isFolder && isHtml(name) ? baseName(name) : site.entry.name;
  if (!isFolder && !isHtml(entry)) return delivery;
  const known = findPlace(delivery);
  const place = known ?? expectPlace(isFolder ? name : dirname(name), request);
  const usual = isFolder ? 'warn' : 'enforce';
  const { inspectSite } = await loadPageRules();
  const files = new Map(site.files.map((file) => [isFolder ? file.name : entry, file]));
  const inspection = await inspectSite(files, {
    ...place,
    entry,
    isFolder,
    selfContained: request.selfContained === 'auto' ? usual : request.selfContained,
    signal,
  });
  const found = known && findMissing ? await askHost(inspection, findMissing) : inspection;
  // Without a host it is not known where the folder will be.
  const open = known === undefined ? found.refusals.filter(({ kind }) => kind === 'base') : [];
  const refusals = found.refusals.filter((one) => !open.includes(one));
  const unknown = [...open, ...found.unknown];
  const checked = withFindings(delivery, site, { ...found, refusals, unknown });
  const isOpen = known === undefined && found.hasAbsolute;
  return isOpen ? { ...checked, unknown: [describePlace(place), ...checked.unknown] } : checked;
}

/** @throws {DeliveryError} `BAD_FILE` for what is refused */
function withFindings(
  delivery: Delivery,
  site: LocalSite,
  { refusals, unknown, notes, routerSetting }: SiteInspection,
): Delivery {
  const refusal = shownTask(delivery)?.served?.refusal ?? null;
  if (refusals.length > 0) throw brokenSiteError(delivery.subject, site, refusals, refusal);
  if (refusal !== null) throw refusal;
  return {
    ...delivery,
    routerSetting,
    unknown: [...delivery.unknown, ...formatSiteFindings(unknown)],
    notes: [...delivery.notes, ...formatSiteFindings(notes)],
  };
}

/** A single file is looked at where K1 shows it. */
function isForScreen(delivery: Delivery, request: DeliveryRequest): boolean {
  if (delivery.site?.isFolder) return true;
  return delivery.attempts.length === 0 ? isWanted('K1', request) : attemptIn(delivery, 'K1') !== undefined;
}

type SitePlace = Pick<SiteOptions, 'sitePath' | 'origin'>;

/** Where a folder, or the folder of a page, will be; absent while that is not known. */
function findPlace(delivery: Delivery): SitePlace | undefined {
  const served = shownTask(delivery)?.served;
  return served && { sitePath: served.sitePath, origin: served.url.origin };
}

/** The same if no setting of its host says otherwise. */
function expectPlace(name: string, { repository, serverUrl, pagesBase }: DeliveryRequest): SitePlace {
  const known = repository && defaultSiteUrl(serverUrl, repository);
  const base = pagesBase ?? known;
  const root = `${(base?.pathname ?? '/<repo>').replace(/\/$/, '')}/`;
  const folder = encodePath(trimSlashes(name));
  return { sitePath: folder === '' ? root : `${root}${folder}/`, ...(base && { origin: base.origin }) };
}

const trimSlashes = (path: string): string => path.replace(/^(?:\.?\/)+|\/+$/g, '');

const describePlace = ({ sitePath, origin = '' }: SitePlace): string =>
  `whether the folder will be at ${origin}${sitePath}, where its absolute addresses lead to its files`;

/**
 * Asks the host for the code that pages load from elsewhere on it: what another delivery has put there is no part of
 * this one. What is not there is refused, as in the folder.
 */
async function askHost(inspection: SiteInspection, findMissing: FindMissing): Promise<SiteInspection> {
  const { refusals, unknown } = inspection;
  const urls = [...new Set(unknown.flatMap(({ url }) => url ?? []))].map((url) => new URL(url));
  const absent = new Set((await findMissing(urls)).map(({ href }) => href));
  const isMissing = ({ url }: SiteFinding): boolean => url !== undefined && absent.has(url);
  const missing = unknown.filter(isMissing).map((one): SiteFinding => {
    return { ...one, kind: 'missing', text: `${one.text}: its host does not have it` };
  });
  return {
    ...inspection,
    refusals: [...refusals, ...missing],
    unknown: unknown.filter((one) => !isMissing(one)),
  };
}

function brokenSiteError(
  subject: string,
  site: LocalSite,
  findings: readonly SiteFinding[],
  refusal: DeliveryError | null,
): DeliveryError {
  const isMisread = findings.every(({ kind }) => kind === 'encoding');
  const needed = site.isFolder ? 'complete' : 'self-contained';
  const problem = isMisread ? 'has text that would be unreadable' : `is not ${needed}`;
  const hint = findings.find((finding) => finding.hint !== undefined)?.hint;
  const ways = describeWays(subject, site, findings, hint);
  return new DeliveryError('BAD_FILE', `${site.isFolder ? 'the folder ' : ''}${subject} ${problem}`, {
    hint: (w) => [ways, ...(refusal === null ? [] : [refusal.advice ?? ''])].map(w.say).join('; '),
    leftBehind: [],
    findings: [
      ...formatSiteFindings(dropRepeatedHints(findings, hint)),
      ...(refusal === null ? [] : [refusal.message]),
    ],
  });
}

/** What to deliver instead, or what to change. */
function describeWays(
  subject: string,
  { isFolder, entry }: LocalSite,
  findings: readonly SiteFinding[],
  hint: string | undefined,
): Text {
  const levels = Math.max(...findings.map((finding) => finding.levels ?? -1));
  const page = isFolder ? join(subject, entry.name) : subject;
  const folder = folderHint(page, levels + entry.name.split('/').length - 1);
  const other = isFolder
    ? 'put the missing files into the folder, or correct the addresses'
    : 'write it into the page';
  return (w) =>
    [
      levels < 0 ? '' : `put the missing files in place and ${w.say(folder)}`,
      hint ?? (levels < 0 ? other : ''),
      findings.every(({ kind }) => kind === 'host') ? `set ${w.input('self-contained', 'warn')}` : '',
    ]
      .filter((way) => way !== '')
      .join(', or ');
}

/**
 * What to deliver instead of a page or a folder whose page needs what lies above it.
 *
 * @param page its path as the user wrote it
 * @param levels how many folders above its own one
 */
function folderHint(page: string, levels: number): Text {
  const names = page.split(/[\\/]/);
  const entry = names.splice(-1 - levels);
  const isNamed = names.length > 0 && !names.includes('..');
  const folder = isNamed ? `the folder ${names.join('/')}/` : 'a folder that has the page and these files';
  return (w) =>
    `deliver ${folder}${entry.length > levels ? `, with ${w.input('entry', entry.join('/'))}` : ''}`;
}

/** Each hint is said at its first finding only, and that of the whole error at none. */
function dropRepeatedHints(
  findings: readonly SiteFinding[],
  shared: string | undefined,
): readonly SiteFinding[] {
  const said = new Set([shared]);
  return findings.map((finding) => {
    if (said.has(finding.hint)) return { ...finding, hint: undefined };
    said.add(finding.hint);
    return finding;
  });
}
