import type { Ports } from '../ports.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { inspectFile, type LocalFile } from '../rules/inspect.ts';
import { entryFile } from '../rules/local-site.ts';
import { getBrowserDisplay } from '../rules/media-type.ts';
import { encodePath } from '../rules/naming.ts';
import { checkEncoding, isHtml, type SelfContained } from '../rules/page/page-file.ts';
import { checkSelfContained, type FindMissing } from '../rules/page/self-contained.ts';
import { decodePath, findServed } from '../rules/site/site-address.ts';
import { findProblems, refuseProblems, refuseSecretNames } from './check-content.ts';
import { checkSite, expectPlace } from './check-site.ts';
import { isWanted, refuseTooLarge } from './choose-channel.ts';
import { attemptIn, type Delivery, LINK_SUBJECT, newDelivery, runStep } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { deliveredName, type FoundFile, isFolder, refuseOneNameForMany } from './find-files.ts';
import { openSite, siteName } from './open-site.ts';
import { findMissingUrls, listLocalFiles } from './screen/local-files.ts';

/** Opens and checks every file that is named; each stays open until `closeFiles`. A link alone has none. */
export async function openFiles(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { fileLines, folder, path } = request;
  if (fileLines.length === 0) return [newDelivery('deliver', LINK_SUBJECT)];
  const found = await context.findFiles(fileLines, folder);
  refuseOneNameForMany(found, path);
  const isOnly = found.length === 1;
  const deliveries = found.map((one) => ({
    ...newDelivery('deliver', one.given, one),
    ...(!isOnly && { place: one.relativePath }),
  }));
  return runStep('check', deliveries, async (delivery) => {
    if (delivery.found === null) return delivery;
    await refuseSecretNames([delivery.found.given, delivery.found.relativePath], request, context);
    context.logger.startSection(`Check ${delivery.found.given}`);
    if (await isFolder(delivery.found)) {
      const site = await openSite(delivery.found, request, context);
      const name = siteName(delivery.found, { path, isOnly });
      return { ...delivery, name, site, file: entryFile(site) };
    }
    const name = deliveredName(delivery.found, path);
    refuseHiddenType(delivery.found, name, path);
    return { ...delivery, name, file: await checkFile(delivery.found, request, context) };
  });
}

/** Under such a name a browser would download what it can show: most likely a folder is meant. */
function refuseHiddenType({ relativePath }: FoundFile, name: string, path = ''): void {
  if (getBrowserDisplay(relativePath) === 'none' || getBrowserDisplay(name) !== 'none') return;
  refuseInput(
    (w) => `${w.subject('path')} names a file of a type that browsers download`,
    (w) => `set ${w.input('path', `${path}/`)} for a folder, or give the name its ending`,
  );
}

/** Opens and checks one file that is delivered alone. @see protocol 1 (file rules), 7 (prohibition 3), 8 */
async function checkFile(
  found: FoundFile,
  request: DeliveryRequest,
  ports: Pick<Ports, 'logger' | 'signal'>,
): Promise<LocalFile> {
  const { logger, signal } = ports;
  const { channels, ownSecrets: secrets } = request;
  const accept = (size: number): void => refuseTooLarge(channels, size);
  const file = await inspectFile({ ...request, ...found, secrets, accept, signal });
  try {
    logger.info(`${file.size} bytes, sha256 ${file.sha256}`);
    if (file.markerCount !== null) logger.info(`marker found ${times(file.markerCount)}`);
    const problems = await findProblems(file, found.given, request, ports);
    await refuseProblems(`several things are wrong with ${found.given}`, problems, async () => {
      if (isWanted('K1', request)) await checkSelfContained(file, modeOf(request), found);
    });
    logger.info('no secret found');
    return file;
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

const modeOf = ({ selfContained }: Pick<DeliveryRequest, 'selfContained'>): SelfContained =>
  selfContained === 'auto' ? 'enforce' : selfContained;

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** How many addresses a host is asked for. */
const MAX_ASKED = 50;

/** A page must contain all that it shows. @param isForScreen whether a browser opens it @see protocol 1 */
export function checkPages(
  deliveries: readonly Delivery[],
  request: Pick<DeliveryRequest, 'selfContained' | 'repository' | 'serverUrl' | 'pagesBase' | 'checkOnly'>,
  isForScreen: (delivery: Delivery) => boolean,
  ports: Ports,
): Promise<readonly Delivery[]> {
  const local = listLocalFiles(deliveries);
  const findMissing: FindMissing = (urls) => {
    const isLocal = (path: string): boolean => local(`/${path}`) !== undefined;
    const others = urls.filter(({ pathname }) => findServed(decodePath(pathname).slice(1), isLocal) === null);
    return findMissingUrls(others.slice(0, MAX_ASKED), ports);
  };
  return runStep('check', deliveries, async (delivery) => {
    const { file, name, site } = delivery;
    if (site !== null) return checkSite(delivery, site, request, { ...ports, findMissing });
    if (file === null || !isForScreen(delivery)) return delivery;
    // A browser may take either name for a page's: the file's own, or the one that it gets on the host.
    const shownName = isHtml(name) ? name : file.name;
    const notes = await checkEncoding(file, shownName);
    const url = attemptIn(delivery, 'K1')?.task.served?.url;
    const place = request.checkOnly ? placeOfCheck(name, deliveries, request) : url && { url, findMissing };
    const given = delivery.found?.given;
    const unknown = await checkSelfContained(file, modeOf(request), { name: shownName, given, place });
    return { ...delivery, unknown, notes: [...delivery.notes, ...notes] };
  });
}

/** A check asks no host: of what a page needs below its site's root, all is missing that is not checked with it. */
function placeOfCheck(
  name: string,
  deliveries: readonly Delivery[],
  request: Parameters<typeof expectPlace>[1],
) {
  const { origin = 'https://site.invalid', rootPath } = expectPlace('', request);
  const names = deliveries.flatMap(
    (one) => one.site?.files.map(({ path }) => `${one.name}/${path}`) ?? one.name,
  );
  const given = new Set(names.map((one) => rootPath + one));
  const findMissing: FindMissing = async (urls) => {
    const paths = urls.map((url) => [url, decodePath(url.pathname)] as const);
    return paths.flatMap(([url, path]) => (path.startsWith(rootPath) && !given.has(path) ? [url] : []));
  };
  return { url: new URL(rootPath + encodePath(name), origin), findMissing };
}

export async function closeFiles(deliveries: readonly Delivery[]): Promise<void> {
  for (const { file } of deliveries) await file?.close();
}
