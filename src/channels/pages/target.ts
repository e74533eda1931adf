import { DeliveryError } from '../../errors.ts';
import { getBranchHead } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { findAbsence } from '../../github/api/failures.ts';
import { knownSettings, type RepositoryContext } from '../../github/api/repository.ts';
import type { FileWrite } from '../../github/change.ts';
import { type GitPorts, hasGit } from '../../github/git/process.ts';
import { SIZE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import type { Words } from '../../words.ts';
import type { PreparedTask } from '../channel.ts';
import type { BranchTree, ReadEntries } from './branch-reader.ts';
import type { DeployTarget } from './deploy/deploy.ts';
import type { PagesDestination, PagesOptions } from './destination.ts';

/** By one call, the object API, or git; `COMMIT_METHODS` names them. @see protocol 4.2, 8 */
export type CommitMethod = 'A' | 'B' | 'C';

/** The branch, and how it is written to. */
export interface CommitTarget {
  readonly github: GitHubClient;
  readonly branch: string;
  /** The method of the plan; what turns out to be impossible with it is written by the next one. */
  readonly method: CommitMethod;
  readonly readEntries: ReadEntries;
  readonly options: PagesOptions;
  /** What has to be set up first; `null` where nothing has. */
  readonly setup: PagesSetup | null;
  /** Whether a workflow builds the site, which would not know a new branch. */
  readonly isByWorkflow?: boolean;
  /** How this action deploys the site; `null` where it does not. */
  readonly deploy: DeployTarget | null;
}

/** What a delivery has to set up besides its commit. */
export interface PagesSetup {
  /** What is missing: the branch, or all commits of the repository; `null` where the branch exists. */
  readonly absence: 'branch' | 'commits' | null;
  readonly enablesPages: boolean;
}

/** A place of the branch, a file or a folder, and all that it is to hold: nothing where it is removed. */
export interface PagesTask extends PreparedTask {
  readonly target: CommitTarget;
  /** The path of a file; that of a folder ends in `/`, or is empty for the branch's root. */
  readonly itemPath: string;
  /** By path in the branch; `withPictures` (commit.ts) adds the pictures of the entry. */
  readonly files: readonly FileWrite<LocalFile>[];
  /** Whether a `!` line leaves a path of the branch out. */
  readonly isSpared: (path: string) => boolean;
  readonly destination: PagesDestination;
}

/** Whether a place is a folder: then one commit is made for all that is in it. */
export const isFolderPath = (itemPath: string): boolean => itemPath === '' || itemPath.endsWith('/');

/** As `PagesOptions.isRemoval` says before there is a task. */
export const isRemoval = ({ files }: Pick<PagesTask, 'files'>): boolean => files.length === 0;

const COMMIT_METHODS: Readonly<Record<CommitMethod, string>> = {
  A: 'method A, single-call write',
  B: 'method B, object API',
  C: "method C, git's own protocol",
};

/**
 * The method for single files on this machine. The single-call write can't create a branch, nor the API a first commit.
 *
 * @param files `null` for each that is removed
 * @param absence what the delivery has to create
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

/** Whether a workflow of the repository builds the site, and not this action. */
export const isBuiltByWorkflow = (
  { pagesBase }: Pick<PagesOptions, 'pagesBase'>,
  site: RepositoryContext['pagesSettings'],
): boolean => knownSettings(site)?.builtBy === 'workflow' && pagesBase === undefined;

/** The ways out where a branch is missing that the workflow would not publish anyway. */
export const WORKFLOW_BRANCH_HINT = (w: Words): string =>
  w.ownToken === ''
    ? `set ${w.input('branch')} to the branch from which the workflow builds, and leave ${w.input('setup')} out`
    : `leave ${w.input('token')} out: with the token of the job, the site is deployed without that workflow`;

/** How a plan and a placement name the method. */
export function planMethod(method: CommitMethod, task: Pick<PagesTask, 'itemPath' | 'files'>): string {
  if (isFolderPath(task.itemPath))
    return `one commit ${isRemoval(task) ? 'that removes it' : 'for the folder'}`;
  return `${isRemoval(task) ? 'a commit that removes it, ' : ''}${COMMIT_METHODS[method]}`;
}

/**
 * The commit that the branch of a target points to; `null` if the delivery creates the branch.
 *
 * @throws {DeliveryError} `NOT_FOUND` that names `setup` where a delivery would need it.
 */
export async function readTargetHead(target: CommitTarget): Promise<string | null> {
  const { github, branch, method, options, isByWorkflow } = target;
  try {
    return await getBranchHead(github, branch);
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

/** Reads all of the branch that a target is written to. @throws {DeliveryError} `TOO_LARGE` where GitHub does not list it */
export async function readTargetTree(target: CommitTarget): Promise<BranchTree> {
  const head = await readTargetHead(target);
  return { head, entries: head === null ? new Map() : await target.readEntries(head) };
}
