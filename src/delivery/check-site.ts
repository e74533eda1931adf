import type { LocalFiles } from '../browser/screen-view.ts';
import { DeliveryError } from '../errors.ts';
import { defaultSiteUrl } from '../github/hosts.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import type { LocalSite } from '../rules/local-site.ts';
import { encodePath } from '../rules/naming.ts';
import { checkEncoding, isHtml } from '../rules/page/page-file.ts';
import { checkSelfContained, type FindMissing, folderHint } from '../rules/page/self-contained.ts';
import { decodePath, findServed } from '../rules/site/site-address.ts';
import type { SiteFinding, SiteInspection, SiteOptions } from '../rules/site/site-files.ts';
import { isWanted } from './choose-channel.ts';
import { attemptIn, type Delivery, runStep, shownTask } from './delivery.ts';
import { findMissingUrls, listLocalFiles } from './screen/local-files.ts';

/** How many addresses a host is asked for. */
const MAX_ASKED = 50;

/** Checks what pages need, with what their hosts have. */
export function checkPages(
  deliveries: readonly Delivery[],
  request: SiteRequest,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const { signal } = ports;
  const findMissing = request.checkOnly
    ? findNotGiven(deliveries, request)
    : findOnHosts(listLocalFiles(deliveries), ports);
  return runStep('check', deliveries, (one) => checkSite(one, request, { signal, findMissing }));
}

/** Asks the hosts for what the step itself does not deliver. */
function findOnHosts(local: LocalFiles, ports: Ports): FindMissing {
  const isLocal = (path: string): boolean => local(`/${path}`) !== undefined;
  return (urls) => {
    const others = urls.filter(({ pathname }) => findServed(decodePath(pathname).slice(1), isLocal) === null);
    return findMissingUrls(others.slice(0, MAX_ASKED), ports);
  };
}

/** A check asks no host: of what a page needs below its site's root, all is missing that is not checked with it. */
function findNotGiven(deliveries: readonly Delivery[], request: SiteRequest): FindMissing {
  const { rootPath } = expectPlace('', request);
  const given = new Set(
    deliveries.flatMap(({ name, site }) => {
      const folder = decodePath(expectPlace(name, request).sitePath);
      return site?.isFolder ? site.files.map(({ path }) => folder + path) : rootPath + name;
    }),
  );
  const isMissing = (path: string): boolean => path.startsWith(rootPath) && !given.has(path);
  return async (urls) => urls.filter(({ pathname }) => isMissing(decodePath(pathname)));
}

/** Where a file will be, as far as a check can tell. */
function expectUrl(name: string, request: SiteRequest): URL {
  const { origin = 'https://site.invalid', rootPath } = expectPlace('', request);
  return new URL(rootPath + encodePath(name), origin);
}

/** What a check may ask. */
interface CheckPorts {
  readonly signal: AbortSignal;
  /** Absent while the host is not known. */
  readonly findMissing?: FindMissing;
}

/** Checks what the pages of a file or a folder need. @throws {DeliveryError} `BAD_FILE` @see protocol 1, design 6 */
export async function checkSite(
  delivery: Delivery,
  request: SiteRequest,
  ports: CheckPorts,
): Promise<Delivery> {
  const { site } = delivery;
  if (site === null) return delivery;
  return site.isFolder
    ? checkFolder(delivery, site, request, ports)
    : checkPage(delivery, site.entry.file, request, ports);
}

/** A page that is delivered alone must contain all that it shows. */
async function checkPage(
  delivery: Delivery,
  file: LocalFile,
  request: SiteRequest,
  { findMissing }: CheckPorts,
): Promise<Delivery> {
  const { name, attempts, subject } = delivery;
  const attempt = attemptIn(delivery, 'K1');
  const isForScreen = attempts.length === 0 ? isWanted('K1', request) : attempt !== undefined;
  if (!isForScreen) return delivery;
  // A browser may take either name for a page's: the file's own, or the one that it gets on the host.
  const shownName = isHtml(name) ? name : file.name;
  const notes = await checkEncoding(file, shownName);
  const mode = request.selfContained === 'auto' ? 'enforce' : request.selfContained;
  const url = request.checkOnly ? expectUrl(name, request) : attempt?.task.served?.url;
  const place = url && findMissing && { url, findMissing };
  const unknown = await checkSelfContained(file, mode, { name: shownName, given: subject, place });
  return { ...delivery, unknown, notes: [...delivery.notes, ...notes] };
}

/**
 * Resolves every reference of a folder within the folder: what a page misses when it opens refuses the whole, and so
 * does a page that could not be read.
 *
 * @throws {DeliveryError} `BAD_FILE` with page, line and what is wrong, the first ten findings in full.
 */
async function checkFolder(
  delivery: Delivery,
  site: LocalSite,
  request: SiteRequest,
  { signal, findMissing }: CheckPorts,
): Promise<Delivery> {
  const servedAt = shownTask(delivery)?.servedAt;
  const place = servedAt ?? expectPlace(delivery.name, request);
  const { inspectSite, formatSiteFindings: format } = await loadPageRules();
  const { entry, files } = site;
  const readable = new Map(
    files.map(({ path, file }) => [path, { size: file.size, read: () => file.read() }]),
  );
  const selfContained = request.selfContained === 'auto' ? 'warn' : request.selfContained;
  const inspection = await inspectSite(readable, { ...place, entry: entry.path, selfContained, signal });
  const isKnown = servedAt !== undefined && findMissing !== undefined;
  const { refusals, notes } = isKnown ? await askHost(inspection, servedAt, findMissing) : inspection;
  // Without a host it is not known where the folder will be.
  const isFinal = ({ kind }: SiteFinding): boolean => servedAt !== undefined || kind !== 'base';
  const final = refusals.filter(isFinal);
  const refusal = servedAt?.refusal ?? null;
  if (final.length > 0) throw brokenSiteError({ subject: delivery.subject, site, refusal }, final, format);
  if (refusal !== null) throw refusal;
  const open = refusals.filter((finding) => !isFinal(finding));
  return {
    ...delivery,
    routerSetting: inspection.routerSetting,
    unknown: [
      ...delivery.unknown,
      ...(servedAt === undefined && inspection.hasAbsolute ? [describePlace(place)] : []),
      ...format([...open, ...notes.filter(isUnknown)]),
    ],
    notes: [...delivery.notes, ...format(notes.filter((finding) => !isUnknown(finding)))],
  };
}

/** What was not looked at, and what other hosts must answer; anything else is only worth knowing. */
const isUnknown = ({ kind }: SiteFinding): boolean =>
  kind === 'incomplete' || kind === 'unchecked' || kind === 'host';

type FindingFormatter = (findings: readonly SiteFinding[]) => readonly string[];

/** What of a request says how pages are checked, and where they will be. */
type SiteRequest = Pick<
  DeliveryRequest,
  'channels' | 'selfContained' | 'repository' | 'serverUrl' | 'pagesBase' | 'checkOnly'
>;

type SitePlace = Pick<SiteOptions, 'sitePath' | 'rootPath' | 'origin'>;

/** Where a folder will be if no setting of its host says otherwise. */
function expectPlace(name: string, { repository, serverUrl, pagesBase }: SiteRequest): SitePlace {
  const known = repository && defaultSiteUrl(serverUrl, repository);
  const base = pagesBase ?? known;
  const rootPath = `${(base?.pathname ?? '/<repo>').replace(/\/$/, '')}/`;
  const folder = encodePath(trimSlashes(name));
  return {
    sitePath: folder === '' ? rootPath : `${rootPath}${folder}/`,
    rootPath,
    ...(base && { origin: base.origin }),
  };
}

const trimSlashes = (path: string): string => path.replace(/^(?:\.?\/)+|\/+$/g, '');

const describePlace = ({ sitePath, origin = '' }: SitePlace): string =>
  `whether the folder will be at ${origin}${sitePath}, where its absolute addresses lead to its files`;

/**
 * Asks the host for the code that pages load from outside of their folder: what another delivery has put there is no
 * part of this one. What is not there is refused, as in the folder.
 */
async function askHost(
  { refusals, notes }: Pick<SiteInspection, 'refusals' | 'notes'>,
  { origin = '', rootPath }: SitePlace,
  findMissing: FindMissing,
): Promise<Pick<SiteInspection, 'refusals' | 'notes'>> {
  const urls = new Map(
    notes.flatMap((one) =>
      one.outside === undefined
        ? []
        : [[one, new URL(`${origin}${rootPath}${encodePath(one.outside.path)}`)] as const],
    ),
  );
  const absent = new Set((await findMissing([...urls.values()])).map(({ href }) => href));
  const isMissing = (one: SiteFinding): boolean => absent.has(urls.get(one)?.href ?? '');
  const missing = notes.filter(isMissing).map((one): SiteFinding => {
    return { ...one, kind: 'missing', text: `${one.text}: its host does not have it` };
  });
  return { refusals: [...refusals, ...missing], notes: notes.filter((one) => !isMissing(one)) };
}

/** A folder that is refused. */
interface BrokenSite {
  readonly subject: string;
  readonly site: LocalSite;
  readonly refusal: DeliveryError | null;
}

function brokenSiteError(
  { subject, site, refusal }: BrokenSite,
  findings: readonly SiteFinding[],
  format: FindingFormatter,
): DeliveryError {
  const hint = findings.find((finding) => finding.hint !== undefined)?.hint;
  const levels = Math.max(...findings.map(({ outside }) => outside?.levels ?? 0));
  const page = `${subject.replace(/[\\/]*$/, '')}/${site.entry.path}`;
  const isComplete = findings.every(({ kind }) => kind === 'encoding');
  const problem = isComplete ? 'has pages that would be unreadable' : 'is not complete';
  return new DeliveryError('BAD_FILE', `the folder ${subject} ${problem}`, {
    hint: (w) =>
      [
        levels > 0 ? w.say(folderHint(page, levels + site.entry.path.split('/').length - 1)) : '',
        hint ?? (levels > 0 ? '' : 'put the missing files into the folder, or correct the addresses'),
        w.say(refusal?.advice ?? ''),
      ]
        .filter((part) => part !== '')
        .join('; '),
    leftBehind: [],
    findings: [...format(dropRepeatedHints(findings, hint)), ...(refusal === null ? [] : [refusal.message])],
  });
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
