import { DeliveryError } from '../../errors.ts';
import type { CommitEntries } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { findAbsence } from '../../github/api/failures.ts';
import { knownSettings, type RepositoryContext } from '../../github/api/repository.ts';
import type { FileWrite } from '../../github/change.ts';
import { type GitPorts, hasGit } from '../../github/git/process.ts';
import { SIZE } from '../../protocol/limits.ts';
import { TOOL } from '../../protocol/words.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { isFolderPath } from '../../rules/naming.ts';
import type { Words } from '../../words.ts';
import type { PreparedTask } from '../channel.ts';
import type { BranchTree, SiteHistory } from './branch-reader.ts';
import type { DeployTarget } from './deploy/deploy.ts';
import type { ReceiptHistory } from './deploy/receipt-history.ts';
import type { PagesDestination, PagesOptions } from './destination.ts';

/** A: contents API. B: git object API. C: git. D: a deployment, without a commit. @see protocol 4.2, 8 */
export type CommitMethod = 'A' | 'B' | 'C' | 'D';

export interface CommitTarget {
  readonly github: GitHubClient;
  readonly branch: string;
  /** The planned method; if it turns out to be impossible, the next one is used. */
  readonly method: CommitMethod;
  readonly history: SiteHistory;
  /** The history of a site without a branch, which is deployed; otherwise absent. */
  readonly receipt?: ReceiptHistory | undefined;
  readonly options: PagesOptions;
  /** What to set up first; `null` if nothing is missing. */
  readonly setup: PagesSetup | null;
  /** Whether a workflow builds the site: it wouldn't know a new branch. */
  readonly isByWorkflow?: boolean;
  /** How this action deploys the site; `null` if it doesn't. */
  readonly deploy: DeployTarget | null;
}

export interface PagesSetup {
  /** `branch` is missing, or the repository has no `commits`; `null` if the branch exists. */
  readonly absence: 'branch' | 'commits' | null;
  readonly enablesPages: boolean;
}

/** An item of the branch with all files that it will hold; without files it is removed. */
export interface PagesTask extends PreparedTask {
  readonly target: CommitTarget;
  readonly itemPath: string;
  /** By path in the branch; `withPictures` adds the page's pictures. */
  readonly files: readonly FileWrite<LocalFile>[];
  /** Whether a `!` line excludes the path. */
  readonly isSpared: (path: string) => boolean;
  readonly destination: PagesDestination;
  /** Only some folders directly below are removed. */
  readonly sweep?: Sweep;
}

/** The plan of a sweep: the folders that it removes, with the deliveries that end, and why others stay. */
export interface Sweep {
  readonly due: readonly {
    readonly path: string;
    readonly treeSha: string | undefined;
    readonly files: CommitEntries;
    readonly itemPaths: readonly string[];
  }[];
  readonly notes: readonly string[];
}

/** Same as `PagesOptions.isRemoval`: only a removal has no files. */
export const isRemoval = ({ files }: Pick<PagesTask, 'files'>): boolean => files.length === 0;

const COMMIT_METHODS: Readonly<Record<CommitMethod, string>> = {
  A: 'method A, single-call write',
  B: 'method B, object API',
  C: "method C, git's own protocol",
  D: 'method D, a deployment',
};

/**
 * Method A can't create a branch, and method B can't make a first commit. @param files `null` for each removed file
 */
export async function chooseMethod(
  files: readonly (LocalFile | null)[],
  ports: GitPorts,
  absence: 'branch' | 'commits' | null = null,
): Promise<CommitMethod> {
  if ((files.length > 1 || absence === 'commits') && (await hasGit(ports))) return 'C';
  const size = files.length > 1 ? undefined : files[0]?.size;
  if (size === undefined) return 'B';
  if (size <= SIZE.methodA) return absence === 'branch' ? 'B' : 'A';
  return size <= SIZE.methodB ? 'B' : 'C';
}

/** Whether a workflow builds the site, and not this action. */
export const isBuiltByWorkflow = (
  { pagesBase }: Pick<PagesOptions, 'pagesBase'>,
  site: RepositoryContext['pagesSettings'],
): boolean => knownSettings(site)?.builtBy === 'workflow' && pagesBase === undefined;

/** What to do if the branch is missing and the workflow wouldn't publish it anyway. */
export const WORKFLOW_BRANCH_HINT = (w: Words): string =>
  w.ownToken === ''
    ? `set ${w.input('branch')} to the branch that the workflow builds from, and leave ${w.input('setup')} out`
    : `leave ${w.input('token')} out: ${TOOL.name} then deploys the site itself`;

export function planMethod(method: CommitMethod, task: Pick<PagesTask, 'itemPath' | 'files'>): string {
  if (method !== 'D' && isFolderPath(task.itemPath))
    return `one commit ${isRemoval(task) ? 'that removes it' : 'for the folder'}`;
  return `${isRemoval(task) ? 'a commit that removes it, ' : ''}${COMMIT_METHODS[method]}`;
}

/**
 * Reads the newest commit; `null` if the delivery creates it (method A also makes a first commit).
 * @throws {DeliveryError} `NOT_FOUND`, with `setup` as the hint for a delivery
 */
export async function readTargetHead(target: CommitTarget): Promise<string | null> {
  const { history, method, options, isByWorkflow } = target;
  try {
    return await history.readHead();
  } catch (thrown) {
    const absence = findAbsence(thrown);
    if (absence === null) throw thrown;
    const { setup, isRemoval = false } = options;
    if (setup || (absence === 'commits' && (isRemoval || method === 'A'))) return null;
    if (isRemoval) throw thrown;
    const { code, message, httpCode, advice = '' } = thrown as DeliveryError;
    const hint = (w: Words) =>
      `${isByWorkflow ? WORKFLOW_BRANCH_HINT(w) : `set ${w.input('setup', 'true')} to create it`}; or ${w.say(advice)}`;
    throw new DeliveryError(code, message, { httpCode, hint, cause: thrown });
  }
}

/** Reads the whole branch. @throws {DeliveryError} `TOO_LARGE` if GitHub can't list it */
export async function readTargetTree(target: CommitTarget): Promise<BranchTree> {
  const head = await readTargetHead(target);
  return { head, entries: head === null ? new Map() : await target.history.readEntries(head) };
}
