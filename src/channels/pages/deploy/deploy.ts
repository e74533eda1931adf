import { poll } from '../../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../../errors.ts';
import { getBranchHead } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { createPagesDeployment } from '../../../github/api/pages-build.ts';
import type { Deliverer } from '../../../github/workflow-run.ts';
import { lineIf, namedLine } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT, MEGABYTE, SECOND } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import type { Placement } from '../../channel.ts';
import { SentWrites } from '../../sent-writes.ts';
import { uploadArtifact } from './artifact.ts';
import { type LiveSite, readDeployRecord, refuseOtherSite } from './deploy-record.ts';
import { getIdToken, type JobRuntime } from './job-runtime.ts';
import { contentOfCommit, packContent, type SiteContent } from './site-content.ts';

/** What a deployment needs to know. */
export interface DeployTarget {
  readonly github: GitHubClient;
  readonly runtime: JobRuntime;
  readonly root: URL;
  /** Milliseconds that other deployments are waited for. */
  readonly timeout: number;
  /** What was live when this was checked; `null` where that can't be read, and all of it may be replaced. */
  readonly live: LiveSite | null;
  readonly deliverer?: Deliverer | undefined;
}

/** Where what is deployed comes from. */
interface ContentSource {
  readHead(): Promise<string>;
  readContent(commit: string): Promise<SiteContent>;
}

/** A deployment that GitHub has accepted. */
interface SiteDeployment {
  readonly id: string;
  /** Why it is not known whether its content was still the newest after that; `null` where it was. */
  readonly doubt: string | null;
  /** What the branch has and the site has not. */
  readonly leftOut: readonly string[];
}

/**
 * Deploys a site, and tries again while another deployment goes on. It reads the branch before and after, so that no
 * older content stays over a newer one, and the live site before, so that nothing of others is replaced.
 *
 * @throws {DeliveryError} `CONFLICT` where none was accepted in time, or somebody else deployed meanwhile
 */
export async function deploySite(source: ContentSource, target: DeployTarget, ports: Ports) {
  const { clock, logger, signal } = ports;
  const deadline = clock.now() + target.timeout;
  let uploaded: UploadedSite | null = null;
  const writes = new SentWrites();
  const accepted: Omit<SiteDeployment, 'doubt'>[] = [];
  const busy = 'others wrote to the branch all the time, so nothing was deployed';
  const hint = 'try again: the next try deploys what the branch has then';
  let refusal = new DeliveryError('CONFLICT', busy, { hint });
  const attempt = async (): Promise<string | undefined> => {
    const commit = await source.readHead();
    if (uploaded?.deployRecord.commit !== commit) {
      uploaded = await upload(await source.readContent(commit), target, ports);
    }
    if ((await source.readHead()) === commit) {
      const created = await create(uploaded, target, writes, ports);
      if (hasFailed(created)) {
        refusal = created;
        logger.info(`${created.message}; waiting for its end`);
        return undefined;
      }
      accepted.push({ id: created, leftOut: uploaded.leftOut });
      if ((await source.readHead()) === commit) return created;
    }
    logger.info('the branch has changed meanwhile: what it has now is deployed');
    return undefined;
  };
  const newest = await resultOf(() => poll({ clock, deadline, interval: ARTIFACT.pause, signal }, attempt));
  const last = accepted.at(-1);
  if (last === undefined) throw writes.explain(hasFailed(newest) ? newest : refusal);
  // What fails after one was accepted says nothing of that one.
  const late = newest === undefined ? 'the time was over before that' : null;
  return { ...last, doubt: hasFailed(newest) ? newest.message : late };
}

type UploadedSite = Awaited<ReturnType<typeof upload>>;

async function upload(found: SiteContent, { runtime, deliverer: from }: DeployTarget, ports: Ports) {
  const { clock, logger } = ports;
  const content = { ...found, deployRecord: { ...found.deployRecord, from } };
  return withRetries(ports, async () => {
    const begun = clock.now();
    const { id, size } = await uploadArtifact(() => packContent(content, clock.date()), runtime, ports);
    const took = Math.round((clock.now() - begun) / SECOND);
    const what = `${content.deployRecord.files.size} files as artifact ${id}`;
    logger.info(`uploaded ${what} (${(size / MEGABYTE).toFixed(1)} MB, ${took} s)`);
    return { ...content, artifactId: id };
  });
}

/** @returns the id; or the refusal, while another deployment goes on */
async function create(
  { deployRecord, artifactId }: UploadedSite,
  { github, live, root, runtime }: DeployTarget,
  writes: SentWrites,
  ports: Ports,
): Promise<Result<string>> {
  if (live !== null) refuseOtherSite(await readDeployRecord(root, ports), [live, deployRecord], root);
  // One that arrived without an answer makes the next attempt wait like that of another job.
  const created = await resultOf(() =>
    withRetries(ports, async () => {
      const idToken = await getIdToken(runtime, ports);
      const deployment = { artifactId, commit: deployRecord.commit, idToken };
      return writes.send(() => createPagesDeployment(github, deployment));
    }),
  );
  if (hasFailed(created) && created.code !== 'CONFLICT') throw created;
  return created;
}

/** The placement with its deployment, which is followed. */
export const withDeployment = (placement: Placement, { id, doubt, leftOut }: SiteDeployment): Placement => ({
  ...placement,
  deployment: id,
  evidence: `${placement.evidence}, deployment ${id}`,
  notes: [
    ...(placement.notes ?? []),
    ...namedLine('not deployed, being a link, a submodule or in the place of the receipt', leftOut),
  ],
  unknown: [
    ...(placement.unknown ?? []),
    ...lineIf(doubt !== null, `whether the newest files of the branch are deployed: ${doubt}`),
  ],
});

/**
 * Deploys all of a branch, after something was committed to it; nothing where all of it failed. What could not be
 * deployed is committed all the same, and another try only deploys it.
 */
export async function deployBranch(
  committed: readonly Result<Placement>[],
  branch: string,
  target: DeployTarget,
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  if (committed.every(hasFailed)) return committed;
  const { github } = target;
  const source = {
    readHead: () => getBranchHead(github, branch),
    readContent: (commit: string) => contentOfCommit(github, branch, commit, ports),
  };
  const deployed = await resultOf(() => deploySite(source, target, ports));
  return committed.map((result) => {
    if (hasFailed(result)) return result;
    if (!hasFailed(deployed)) return withDeployment(result, deployed);
    const { commitSha, written } = result;
    if (!written) return deployed;
    const perhaps = deployed.leftBehind === undefined ? ['perhaps its deployment'] : [];
    return deployed.withLeftBehind([`commit ${commitSha} on the branch ${branch}`, ...perhaps]);
  });
}
