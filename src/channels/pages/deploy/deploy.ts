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

export interface DeployTarget {
  readonly github: GitHubClient;
  readonly runtime: JobRuntime;
  readonly root: URL;
  readonly timeout: number;
  /** The live site before; `null` if it can't be read and may be replaced. */
  readonly live: LiveSite | null;
  readonly deliverer?: Deliverer | undefined;
}

interface ContentSource {
  readHead(): Promise<string>;
  readContent(commit: string): Promise<SiteContent>;
}

interface SiteDeployment {
  readonly id: string;
  /** Why newer content may exist; `null` if it can't. */
  readonly doubt: string | null;
  readonly leftOut: readonly string[];
}

/**
 * Deploys a site, and waits while another deployment runs. It reads the branch before and after, so no older content
 * replaces newer. It reads the live site before, so no other site is replaced.
 * @throws {DeliveryError} `CONFLICT` if GitHub accepted no deployment in time, or somebody else deployed
 */
export async function deploySite(source: ContentSource, target: DeployTarget, ports: Ports) {
  const { clock, logger, signal } = ports;
  const deadline = clock.now() + target.timeout;
  let uploaded: UploadedSite | null = null;
  const writes = new SentWrites();
  const accepted: Omit<SiteDeployment, 'doubt'>[] = [];
  const busy = "other commits kept arriving on the branch, so this run didn't deploy";
  const hint = 'run it again: it deploys the newest commit';
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
    logger.info('the branch changed: deploying its newest commit');
    return undefined;
  };
  const newest = await resultOf(() => poll({ clock, deadline, interval: ARTIFACT.pause, signal }, attempt));
  const last = accepted.at(-1);
  if (last === undefined) throw writes.explain(hasFailed(newest) ? newest : refusal);
  // A later failure doesn't undo an accepted deployment.
  const lateDoubt = newest === undefined ? 'the timeout ended before that' : null;
  return { ...last, doubt: hasFailed(newest) ? newest.message : lateDoubt };
}

type UploadedSite = Awaited<ReturnType<typeof upload>>;

async function upload(found: SiteContent, { runtime, deliverer }: DeployTarget, ports: Ports) {
  const { clock, logger } = ports;
  const content = { ...found, deployRecord: { ...found.deployRecord, deliverer } };
  return withRetries(ports, async () => {
    const begun = clock.now();
    const { id, size } = await uploadArtifact(() => packContent(content, clock.date()), runtime, ports);
    const took = Math.round((clock.now() - begun) / SECOND);
    const what = `${content.deployRecord.files.size} files as artifact ${id}`;
    logger.info(`uploaded ${what} (${(size / MEGABYTE).toFixed(1)} MB, ${took} s)`);
    return { ...content, artifactId: id };
  });
}

/** @returns the id, or the refusal while another deployment runs */
async function create(
  { deployRecord, artifactId }: UploadedSite,
  { github, live, root, runtime }: DeployTarget,
  writes: SentWrites,
  ports: Ports,
): Promise<Result<string>> {
  if (live !== null) refuseOtherSite(await readDeployRecord(root, ports), [live, deployRecord], root);
  // If an answer was lost, the next attempt waits for that deployment like for any other.
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

export const withDeployment = (placement: Placement, { id, doubt, leftOut }: SiteDeployment): Placement => ({
  ...placement,
  deployment: id,
  evidence: `${placement.evidence}, deployment ${id}`,
  notes: [
    ...(placement.notes ?? []),
    ...namedLine(
      'not deployed, because it is a link, a submodule or at the path of the deploy record',
      leftOut,
    ),
  ],
  unknown: [
    ...(placement.unknown ?? []),
    ...lineIf(doubt !== null, `whether the newest files of the branch are deployed: ${doubt}`),
  ],
});

/** Deploys the branch after its commits. If the deployment fails, the commits stay and a rerun only deploys. */
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
