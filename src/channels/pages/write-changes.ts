import { forEachOnHost } from '../../async.ts';
import { DeliveryError, hasFailed, type Result } from '../../errors.ts';
import { needsSignatures } from '../../github/api/branch.ts';
import { commitChanges, createBlob, putFile } from '../../github/api/git-data.ts';
import { type CommitIdentity, getCommitIdentity } from '../../github/api/token-owner.ts';
import type { Change } from '../../github/change.ts';
import { hasGit } from '../../github/git/process.ts';
import { pushChanges } from '../../github/git/push.ts';
import { OTHER_BRANCH_HINT } from '../../github/refusals.ts';
import type { Ports } from '../../ports.ts';
import { MEGABYTE, SITE, SIZE } from '../../protocol/limits.ts';
import { createBlobHash } from '../../rules/fingerprint.ts';
import { changedFileError } from '../../rules/unchanged-file.ts';
import type { Words } from '../../words.ts';
import { isComparedPicture } from './pictures.ts';
import { type CommitMethod, type CommitTarget, readTargetHead } from './target.ts';

type Commits = readonly Result<string>[];

/** Chooses the method for the changes: method A writes exactly one path. */
export function methodOf(changes: readonly Change[], { method }: Pick<CommitTarget, 'method'>): CommitMethod {
  const isSingle = changes.every(
    ({ writes, removals, before }) => writes.length === 1 && removals.length === 0 && before === undefined,
  );
  return method === 'A' && !isSingle ? 'B' : method;
}

/** Writes to a branch. Whatever doesn't depend on the branch's state is sent once for all attempts. */
export class BranchWriter {
  readonly #target: CommitTarget;
  readonly #ports: Ports;
  /** The method that was used, or may have been; it may differ from the plan. */
  method: CommitMethod | undefined;
  readonly #deadline: number;
  readonly #sentBlobs = new Set<string>();
  #way: GitWay | undefined;
  #author: CommitIdentity | undefined;

  constructor(target: CommitTarget, ports: Ports) {
    this.#target = target;
    this.#ports = ports;
    this.#deadline = ports.clock.now() + target.options.timeout;
  }

  /**
   * Writes one commit for each change, all in one update that is never forced.
   * @returns an error for each change that failed alone
   * @throws {DeliveryError} `CONFLICT` if the branch moved; nothing was written
   */
  write(changes: readonly Change[], head: string | null): Promise<Commits> {
    const method = methodOf(changes, this.#target);
    if (method === 'A') return this.#putContents(changes);
    return method === 'B' ? this.#writeObjects(changes, head) : this.#writeByGit(changes, head);
  }

  async #putContents([change]: readonly Change[]): Promise<Commits> {
    const { branch, github } = this.#target;
    const [write] = change?.writes ?? [];
    if (change === undefined || write === undefined) return [];
    const { path, file } = write;
    const content = Buffer.concat(await file.read().toArray());
    // The file may have changed on disk without a sign.
    const sha = createBlobHash(content.length).update(content).digest('hex');
    if (sha !== file.blobSha) throw changedFileError(path);
    const { message, replaces } = change;
    this.method = 'A';
    return [await putFile(github, { branch, path, message, content, replaces })];
  }

  /** Method B. A refused blob stops only its own change; with git installed, git writes everything instead. */
  async #writeObjects(changes: readonly Change[], head: string | null, way?: WithoutGit): Promise<Commits> {
    const { github, branch } = this.#target;
    const name = ({ writes, removals }: Change) => writes[0]?.path ?? removals[0] ?? 'another change';
    const sent = await forEachOnHost(changes, name, async (change) => {
      if (way !== undefined) refuseExcess(change, this.#target, way);
      for (const { file } of change.writes) {
        if (!this.#sentBlobs.has(file.blobSha)) await createBlob(github, file, this.#ports);
        this.#sentBlobs.add(file.blobSha);
      }
    });
    const isRefused = (result: Result<void>) =>
      way === undefined && hasFailed(result) && result.code === 'TOO_LARGE';
    if (sent.some(isRefused) && (await hasGit(this.#ports))) {
      this.#ports.logger.info('the host refuses a blob of this size: using git instead');
      return this.#writeByGit(changes, head);
    }
    const ready = changes.filter((_, at) => sent[at] === undefined);
    this.method = 'B';
    const readHead = () => readTargetHead(this.#target);
    const planned = { branch, planned: head };
    const commits = ready.length === 0 ? [] : await commitChanges(github, ready, planned, readHead);
    return sent.map((result) => {
      if (!hasFailed(result)) return commits.shift() as string;
      if (!isRefused(result)) return result;
      const message = `a file of this size can only be committed by git, and ${NO_GIT}`;
      return new DeliveryError('BAD_INPUT', message, { hint: INSTALL_HINT });
    });
  }

  /** Method C; method B without git, or if the branch needs GitHub's signature. */
  async #writeByGit(changes: readonly Change[], head: string | null): Promise<Commits> {
    this.#way ??= await findGitWay(this.#target, this.#ports);
    if (this.#way === 'git') {
      try {
        return await this.#push(changes, head);
      } catch (thrown) {
        if (!(thrown instanceof DeliveryError) || thrown.code !== 'NEEDS_SIGNATURE') throw thrown;
        this.#way = 'signed';
      }
    }
    if (this.#way === 'signed') {
      this.#ports.logger.info('the branch takes signed commits only: using the object API instead of git');
    }
    return this.#writeObjects(changes, head, this.#way);
  }

  async #push(changes: readonly Change[], head: string | null): Promise<readonly string[]> {
    const { github, branch, options } = this.#target;
    const { token, repository } = github;
    this.#author ??= await getCommitIdentity(github);
    const remote = new URL(`/${repository.owner}/${repository.repo}.git`, options.serverUrl);
    const to = { remote, token, branch, planned: head, deadline: this.#deadline };
    this.method = 'C';
    return pushChanges({ ...to, changes, author: this.#author }, this.#ports);
  }
}

const NO_GIT = 'no git (2.31 or later) runs here';
const INSTALL_HINT = (w: Words) => `install git${w.orUse('K2', ' for a single file')}`;

/** Why method B replaces git: GitHub must sign, or git isn't installed. */
type WithoutGit = 'signed' | 'without-git';
type GitWay = 'git' | WithoutGit;

async function findGitWay({ github, branch }: CommitTarget, ports: Ports): Promise<GitWay> {
  if (await needsSignatures(github, branch)) return 'signed';
  return (await hasGit(ports)) ? 'git' : 'without-git';
}

/** Checks early whether a change can be written. @throws {DeliveryError} if `BranchWriter` can't */
export async function refuseUnwritable(change: Change, target: CommitTarget, ports: Ports): Promise<void> {
  const way = await findGitWay(target, ports);
  if (way !== 'git') refuseExcess(change, target, way);
}

/** Method B sends a request for each file, so it has limits. */
function refuseExcess({ writes }: Change, { branch }: CommitTarget, way: WithoutGit): void {
  const large = writes.find(({ file }) => file.size > SIZE.methodB);
  const { length } = writes.filter(({ path }) => !isComparedPicture(path));
  if (length <= SITE.apiWrites && large === undefined) return;
  const what = large === undefined ? `${length} changed files` : `the large file ${large.path}`;
  const limit = `at most ${SITE.apiWrites} files of ${SIZE.methodB / MEGABYTE} MB`;
  const isSigned = way === 'signed';
  const why = isSigned ? `the branch ${branch} takes signed commits only` : NO_GIT;
  const message = `this delivery has ${what}, and ${why}, so each file needs a request: ${limit}`;
  const hint = isSigned ? OTHER_BRANCH_HINT : INSTALL_HINT;
  throw new DeliveryError(isSigned ? 'NEEDS_SIGNATURE' : 'BAD_INPUT', message, { hint, leftBehind: [] });
}
