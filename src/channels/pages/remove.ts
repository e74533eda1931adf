import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { listFilesBelow } from '../../github/api/existing-blobs.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { mapConcurrently } from '../../pool.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import type { Channel, Placement, PreparedUpload, UploadItem } from '../channel.ts';
import { requireGitHub } from '../require-github.ts';
import { createBuildWatches } from './build.ts';
import { type CommitResult, type CommitTarget, commitFiles, comparePaths, previewCommits } from './commit.ts';
import { COMMIT_METHODS, type CommitMethod, chooseMethod } from './commit-methods.ts';
import { applyJekyll, createJekyllLookup, type PagesDestination, resolveDestination } from './destination.ts';
import type { PagesOptions } from './publish.ts';

/** What K1 must know to take one file away. */
export interface PagesRemoval {
  readonly where: CommitTarget;
  readonly destination: PagesDestination;
}

/**
 * K1 backwards: takes files of ours out of the repository again, by a commit for each. A `path` that ends in
 * `/` means all of ours below it.
 */
export function createPagesRemoval(options: PagesOptions, ports: Ports): Channel<PagesRemoval> {
  return {
    key: 'K1',
    prepare: (parcels, circumstances) => prepare(parcels, circumstances, options, ports),
    preview: (intents) => previewCommits(intents.map(wishOf), whereOf(intents), () => 'nothing stands there'),
    async publish(intents) {
      const removed = await commitFiles(intents.map(wishOf), whereOf(intents), ports);
      return intents.map(({ task }, at) => placementOf(task.destination, removed[at]));
    },
  };
}

const wishOf = ({ task }: PreparedUpload<PagesRemoval>) => ({ path: task.destination.path, file: null });

function whereOf([first]: readonly PreparedUpload<PagesRemoval>[]): CommitTarget {
  if (first === undefined) throw new DeliveryError('INTERNAL', 'there is nothing to take away');
  return first.task.where;
}

async function prepare(
  parcels: readonly UploadItem[],
  { site, authorizationError }: RepositoryContext,
  options: PagesOptions,
  ports: Ports,
): Promise<readonly Result<PreparedUpload<PagesRemoval>>[]> {
  const github = requireGitHub(options.github, 'K1', authorizationError);
  const jekyll = createJekyllLookup(github);
  const watch = createBuildWatches(github, options.timeout, ports);

  /** Where a file stands and is served, a rendered one under its page's name. */
  async function intentFor(
    { path, name }: Place,
    method: CommitMethod,
  ): Promise<PreparedUpload<PagesRemoval>> {
    const settings = resolveDestination(github.repository, { ...options, path, name }, site);
    const rendered = MARKDOWN.test(settings.path);
    const destination = rendered ? await applyJekyll(settings, '', true, jekyll) : settings;
    const { branch } = destination;
    return {
      plan: {
        channel: 'K1',
        method: `a commit that removes it, ${COMMIT_METHODS[method]}`,
        destination: `branch ${branch}, path ${destination.path}`,
        name: destination.path,
        claim: 'is taken away',
      },
      task: { where: { ...options, github, branch, method }, destination },
      watch: watch(destination.builtBy),
    };
  }

  async function intentsFor(
    places: readonly Place[],
  ): Promise<readonly Result<PreparedUpload<PagesRemoval>>[]> {
    const nothing = places.map(() => null);
    const method = await chooseMethod(nothing, ports.signal);
    return mapConcurrently(places, BATCH.reads, (place) => resultOf(() => intentFor(place, method)));
  }

  const { path } = options;
  if (path === undefined || !path.endsWith('/')) {
    return intentsFor(parcels.map(({ name }) => ({ path, name })));
  }
  const folder = await intentFor({ path, name: '' }, 'B');
  const ours = await oursBelow(folder.task, ports);
  // What stands nowhere is proven to be gone all the same.
  return ours.length === 0 ? [folder] : intentsFor(ours.map((one) => ({ path: one, name: '' })));
}

/** What is asked for, as far as it decides where the file stands. */
interface Place {
  readonly path: string | undefined;
  /** The name that counts where `path` names none. */
  readonly name: string;
}

/** The paths of our files below a folder; what others have put there is left alone. */
async function oursBelow(
  { where, destination }: PagesRemoval,
  { logger }: Ports,
): Promise<readonly string[]> {
  const paths = await listFilesBelow(where.github, where.branch, destination.path);
  if (paths.length > BATCH.files) {
    throw new DeliveryError('TOO_LARGE', `${paths.length} files stand below ${destination.path}`, {
      hint: `set \`path:\` to a folder with at most ${BATCH.files} files`,
    });
  }
  const seen = await comparePaths(
    paths.map((path) => ({ path, file: null })),
    where,
  );
  return paths.filter((_, at) => {
    const one = seen[at];
    const ours = one !== undefined && !hasFailed(one);
    if (hasFailed(one)) logger.warning(`left alone: ${one.message}`);
    return ours;
  });
}

function placementOf(
  destination: PagesDestination,
  removed: Result<CommitResult> | undefined,
): Result<Placement> {
  if (removed === undefined) return new DeliveryError('INTERNAL', 'nothing was taken away');
  if (hasFailed(removed)) return removed;
  const { commitSha, written } = removed;
  return {
    evidence: written ? `commit ${commitSha} removes it` : 'nothing stands there any more',
    url: destination.pageUrl,
    written,
    ...(commitSha === undefined ? {} : { commitSha }),
    rawUrl: destination.rawUrl,
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: ['caches may still show it for up to ten minutes'],
    unknown: destination.unknown,
  };
}
