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
import { readDeployRecord, refuseOtherSite } from './deploy-record.ts';
import { getIdToken, type JobRuntime } from './job-runtime.ts';
import type { DeployRecord } from './receipt-history.ts';
import { contentOfCommit, packContent, type SiteContent } from './site-content.ts';

export interface DeployTarget {
  readonly github: GitHubClient;
  readonly runtime: JobRuntime;
  readonly root: URL;
  readonly timeout: number;
  /** The live site before; `null` if it can't be read and may be replaced. */
  readonly live: DeployRecord | null;
  readonly deliverer?: Deliverer | undefined;
}

/** What a deployment puts on the site. */
export interface ContentSource {
  /** Names the newest content; `null` if nothing is left to deploy, `undefined` if that isn't known yet. */
  readHead(): Promise<string | null | undefined>;
  /** `null` if it changes at this moment. */
  readContent(head: string): Promise<SiteContent | null>;
  /** Called directly before each request for a deployment. @returns whether that content is still the newest */
  mayDeploy(head: string, deployRecord: DeployRecord): Promise<boolean>;
  /** Whether an accepted deployment has the newest content. */
  isNewest(head: string, id: string): Promise<boolean>;
  /** Waits after a refusal, because another deployment runs. */
  waitForOther?(): Promise<unknown>;
}

interface SiteDeployment {
  /** Absent if nothing had to be deployed. */
  readonly id?: string | undefined;
  /** Why newer content may exist; `null` if it can't. */
  readonly doubt: string | null;
  readonly leftOut: readonly string[];
}

/**
 * Deploys a site, and waits while another deployment runs. It asks the source before and after, so no older content
 * replaces newer, and no other site is replaced.
 * @throws {DeliveryError} `CONFLICT` if GitHub accepted no deployment in time, or somebody else deployed
 */
export async function deploySite(source: ContentSource, target: DeployTarget, ports: Ports) {
  const { clock, logger, signal } = ports;
  const deadline = clock.now() + target.timeout;
  let uploaded: UploadedSite | null = null;
  const writes = new SentWrites();
  let last: Omit<SiteDeployment, 'doubt'> | undefined;
  const busy = "others kept changing the site's content, so this run didn't deploy";
  let refusal = new DeliveryError('CONFLICT', busy, { hint: 'run it again: it deploys the newest content' });
  const attempt = async (): Promise<string | null | undefined> => {
    const head = await source.readHead();
    if (head == null) return head;
    if (uploaded?.head !== head) {
      const content = await source.readContent(head);
      if (content === null) return undefined;
      uploaded = await upload(content, head, target, ports);
    }
    const created = await create(uploaded, { ...target, source }, writes, ports);
    if (hasFailed(created)) {
      refusal = created;
      logger.info(`${created.message}; waiting for its end`);
      await source.waitForOther?.();
      return undefined;
    }
    if (created !== null) last = { id: created, leftOut: uploaded.leftOut };
    if (created !== null && (await source.isNewest(head, created))) return created;
    logger.info('the content changed: deploying the newest');
    // At once: what the newest content needs is live only until an accepted deployment ends.
    return created !== null && clock.now() < deadline ? attempt() : undefined;
  };
  const newest = await resultOf(() => poll({ clock, deadline, interval: ARTIFACT.pause, signal }, attempt));
  if (last === undefined && newest === null) return { leftOut: [], doubt: null };
  if (last === undefined) throw writes.explain(hasFailed(newest) ? newest : refusal);
  // A later failure doesn't undo an accepted deployment.
  const lateDoubt = newest === undefined ? 'the timeout ended before that' : null;
  return { ...last, doubt: hasFailed(newest) ? newest.message : lateDoubt };
}

type UploadedSite = Awaited<ReturnType<typeof upload>>;

async function upload(found: SiteContent, head: string, target: DeployTarget, ports: Ports) {
  const { clock, logger } = ports;
  const { runtime, deliverer } = target;
  const content = { ...found, deployRecord: { ...found.deployRecord, deliverer } };
  return withRetries(ports, async () => {
    const begun = clock.now();
    const { id, size } = await uploadArtifact(() => packContent(content, clock.date()), runtime, ports);
    const took = Math.round((clock.now() - begun) / SECOND);
    const what = `${content.deployRecord.files.size} files as artifact ${id}`;
    logger.info(`uploaded ${what} (${(size / MEGABYTE).toFixed(1)} MB, ${took} s)`);
    return { ...content, head, artifactId: id };
  });
}

/** @returns the id, the refusal while another deployment runs, or `null` if the content isn't the newest any more */
async function create(
  { deployRecord, artifactId, head }: UploadedSite,
  { github, runtime, source }: DeployTarget & { readonly source: ContentSource },
  writes: SentWrites,
  ports: Ports,
): Promise<Result<string | null>> {
  // If an answer was lost, the next attempt waits for that deployment like for any other.
  const created = await resultOf(() =>
    withRetries(ports, async () => {
      const idToken = await getIdToken(runtime, ports);
      if (!(await source.mayDeploy(head, deployRecord))) return null;
      const deployment = { artifactId, commit: deployRecord.commit, idToken };
      return writes.send(() => createPagesDeployment(github, deployment));
    }),
  );
  // Another site went live: only GitHub's own refusal has an HTTP code.
  if (hasFailed(created) && (created.code !== 'CONFLICT' || created.httpCode === undefined)) throw created;
  return created;
}

export const withDeployment = (placement: Placement, { id, doubt, leftOut }: SiteDeployment): Placement => ({
  ...placement,
  ...(id !== undefined && { deployment: id }),
  evidence: `${placement.evidence && `${placement.evidence}, `}deployment ${id ?? 'of unknown name'}`,
  notes: [
    ...(placement.notes ?? []),
    ...namedLine(
      'not deployed, because it is a link, a submodule or at the path of the deploy record',
      leftOut,
    ),
  ],
  unknown: [
    ...(placement.unknown ?? []),
    ...lineIf(doubt !== null, `whether the newest files are deployed: ${doubt}`),
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
  const { github, live, root } = target;
  const readHead = (): Promise<string> => getBranchHead(github, branch);
  const source: ContentSource = {
    readHead,
    readContent: (commit) => contentOfCommit(github, branch, commit, ports),
    async mayDeploy(commit, deployRecord) {
      if (live !== null) refuseOtherSite(await readDeployRecord(root, ports), [live, deployRecord], root);
      return (await readHead()) === commit;
    },
    isNewest: async (commit) => (await readHead()) === commit,
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
