import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { fetchBack } from '../../http/fetch-back.ts';
import { mapConcurrently } from '../../pool.ts';
import type { Ports } from '../../ports.ts';
import { BATCH, PROBE_TIME, SECOND } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import type { Channel, Placement, PreparedUpload, UploadItem } from '../channel.ts';
import { requireGitHub } from '../require-github.ts';
import { createBuildWatches } from './build.ts';
import { type CommitResult, type CommitTarget, commitFiles, previewCommits } from './commit.ts';
import { COMMIT_METHODS, chooseMethod } from './commit-methods.ts';
import {
  applyJekyll,
  createJekyllLookup,
  type PagesDestination,
  type PagesLocation,
  resolveDestination,
} from './destination.ts';

export interface PagesOptions extends PagesLocation {
  readonly github: GitHubClient | null;
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
  readonly where: CommitTarget;
  readonly file: LocalFile;
  readonly destination: PagesDestination;
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
    preview,
    publish: (intents) => place(intents, options, ports),
  };
}

async function prepare(
  parcels: readonly UploadItem[],
  { site, authorizationError }: RepositoryContext,
  options: PagesOptions,
  ports: Ports,
): Promise<readonly Result<PreparedUpload<PagesTask>>[]> {
  const github = requireGitHub(options.github, 'K1', authorizationError);
  const files = parcels.map((parcel) => parcel.file);
  const method = await chooseMethod(files, ports.signal);
  const jekyll = createJekyllLookup(github);
  const watch = createBuildWatches(github, options.timeout, ports);

  async function intentFor({ file, name }: UploadItem): Promise<PreparedUpload<PagesTask>> {
    if (file === null) {
      throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'set `file:`' });
    }
    const settings = resolveDestination(github.repository, { ...options, name }, site);
    const destination = await applyJekyll(settings, file.head, options.hasMarker, jekyll);
    const { branch, builtBy, path } = destination;
    return {
      plan: {
        channel: 'K1',
        method: COMMIT_METHODS[method],
        destination: `branch ${branch}, path ${path}`,
        name: path,
        claim: 'opens on the screen',
      },
      task: { where: { ...options, github, branch, method }, file, destination },
      watch: watch(builtBy),
    };
  }

  return mapConcurrently(parcels, BATCH.reads, (parcel) => resultOf(() => intentFor(parcel)));
}

const wishOf = ({ task }: PreparedUpload<PagesTask>) => ({ path: task.destination.path, file: task.file });

async function preview(intents: readonly PreparedUpload<PagesTask>[]): Promise<readonly Result<string>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const asItIs = ({ commitSha }: CommitResult): string => `commit ${commitSha} already holds these bytes`;
  return previewCommits(intents.map(wishOf), first.task.where, asItIs);
}

async function place(
  intents: readonly PreparedUpload<PagesTask>[],
  options: PagesOptions,
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  const [first] = intents;
  if (first === undefined) return [];
  const replaced = new Map<string, string | undefined>();
  const urls = new Map(intents.map(({ task }) => [task.destination.path, task.destination.pageUrl]));
  const committed = await commitFiles(intents.map(wishOf), first.task.where, ports, async (path) => {
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
  destination: PagesDestination,
  { commitSha, written }: CommitResult,
  previousSha256?: string,
): Placement {
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds these bytes`,
    url: destination.pageUrl,
    written,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: destination.hostMayChangeBytes,
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
  const signal = AbortSignal.any([ports.signal, ports.clock.timeout(PROBE_TIME.least)]);
  try {
    const following = { signal, guard: () => undefined, cookies: new Map() };
    return (await fetchBack(ports.http, url, following, [])).fingerprint?.sha256;
  } catch (thrown) {
    ports.signal.throwIfAborted();
    if (thrown instanceof DeliveryError || signal.aborted) return undefined;
    throw thrown;
  }
}
