import { DeliveryError, hasFailed, type Settled, settled } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import type { Circumstances } from '../github/survey.ts';
import { fetchBack } from '../http/fetch-back.ts';
import { pooled } from '../pool.ts';
import type { Ports } from '../ports.ts';
import { BATCH, LOOK, SECOND } from '../protocol/limits.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { Channel, Intent, Parcel, Placement } from './channel.ts';
import { needsToken } from './needs-token.ts';
import { createBuildWatch } from './pages-build.ts';
import { type Committed, type Committing, commitAll, foreseeAll } from './pages-commit.ts';
import {
  createJekyllSwitch,
  type Destination,
  destinationOf,
  type PagesWishes,
  throughJekyll,
} from './pages-destination.ts';
import { chooseMethod, METHODS } from './pages-writer.ts';

export interface PagesOptions extends PagesWishes {
  readonly github: GitHub | null;
  readonly overwrite: boolean;
  /** Essence of the commit message. */
  readonly essence: string;
  /** Whether a marker will be looked for, so that an older page could pass for ours. */
  readonly hasMarker: boolean;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
}

/** What K1 must know to place one file. */
export interface PagesTask {
  readonly where: Committing;
  readonly file: LocalFile;
  readonly destination: Destination;
}

/**
 * K1: files of the repository, shown on the screen by its Pages site.
 *
 * @see protocol 4.2
 */
export function createPages(options: PagesOptions, ports: Ports): Channel<PagesTask> {
  return {
    key: 'K1',
    prepare: (parcels, circumstances) => prepare(parcels, circumstances, options, ports),
    foresee,
    place: (intents) => place(intents, options, ports),
  };
}

async function prepare(
  parcels: readonly Parcel[],
  { site, unauthorised }: Circumstances,
  options: PagesOptions,
  ports: Ports,
): Promise<readonly Settled<Intent<PagesTask>>[]> {
  const github = needsToken(options.github, 'K1', unauthorised);
  const files = parcels.map((parcel) => parcel.file);
  const method = await chooseMethod(files, ports.signal);
  const jekyll = createJekyllSwitch(github);
  const watch = createBuildWatch(github, options.timeout, ports);

  async function intentFor({ file, name }: Parcel): Promise<Intent<PagesTask>> {
    if (file === null) {
      throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'set `file:`' });
    }
    const settings = destinationOf(github, { ...options, name }, site);
    const destination = await throughJekyll(settings, file.head, options.hasMarker, jekyll);
    const { branch, builtBy, path } = destination;
    return {
      plan: {
        channel: 'K1',
        method: METHODS[method],
        destination: `branch ${branch}, path ${path}`,
        name: path,
        promise: 'opens on the screen',
      },
      task: { where: { ...options, github, branch, method }, file, destination },
      watch: watch(builtBy),
    };
  }

  return pooled(parcels, BATCH.reads, (parcel) => settled(() => intentFor(parcel)));
}

const wishOf = ({ task }: Intent<PagesTask>) => ({ path: task.destination.path, file: task.file });

async function foresee(intents: readonly Intent<PagesTask>[]): Promise<readonly Settled<string>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const asItIs = ({ commitSha }: Committed): string => `commit ${commitSha} already holds these bytes`;
  return foreseeAll(intents.map(wishOf), first.task.where, asItIs);
}

async function place(
  intents: readonly Intent<PagesTask>[],
  options: PagesOptions,
  ports: Ports,
): Promise<readonly Settled<Placement>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const replaced = new Map<string, string | undefined>();
  const urls = new Map(intents.map(({ task }) => [task.destination.path, task.destination.pageUrl]));
  const committed = await commitAll(intents.map(wishOf), first.task.where, ports, async (path) => {
    const url = urls.get(path);
    if (options.hasMarker && url !== undefined) replaced.set(path, await standingPage(url, ports));
  });
  return intents.map(({ task }, at) => {
    const one = committed[at];
    if (one === undefined) return new DeliveryError('INTERNAL', 'nothing was placed');
    if (hasFailed(one)) return one;
    return placementOf(task.destination, one, replaced.get(task.destination.path));
  });
}

function placementOf(
  destination: Destination,
  { commitSha, written }: Committed,
  previousSha256?: string,
): Placement {
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds these bytes`,
    url: destination.pageUrl,
    written,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bustCaches: true,
    mayAlter: destination.mayAlter,
    previousSha256,
    mustBeExternal: false,
    notes: destination.notes,
    unknown: destination.unknown,
  };
}

/** What the page's address answers before it is replaced; only of interest where a marker could be fooled by it. */
async function standingPage(pageUrl: URL, ports: Ports): Promise<string | undefined> {
  const url = new URL(pageUrl);
  url.searchParams.set('v', `${Math.floor(ports.clock.now() / SECOND)}-before`);
  const signal = AbortSignal.any([ports.signal, ports.clock.timeout(LOOK.least)]);
  try {
    const following = { signal, guard: () => undefined, cookies: new Map() };
    return (await fetchBack(ports.http, url, following, [])).print?.sha256;
  } catch (thrown) {
    ports.signal.throwIfAborted();
    if (thrown instanceof DeliveryError || signal.aborted) return undefined;
    throw thrown;
  }
}
