import { hasFailed, type Result, resultOf } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { createPagesDeployment } from '../../../github/api/pages-deployment.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT, MEGABYTE, SECOND } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import type { Placement } from '../../channel.ts';
import { uploadArtifact } from './artifact.ts';
import { type LiveSite, readDeployedReceipt, refuseOtherSite } from './deployed-receipt.ts';
import type { requireJobRuntime } from './job-runtime.ts';
import { getIdToken } from './service.ts';
import { packContent, type SiteContent } from './site-content.ts';

/** What a deployment needs to know. */
export interface DeployTarget {
  readonly github: GitHubClient;
  readonly runtime: ReturnType<typeof requireJobRuntime>;
  /** Address of the site. */
  readonly root: URL;
  /** Milliseconds that other deployments are waited for. */
  readonly timeout: number;
  /** What was live when this was checked; `null` where that can't be read, and all of it may be replaced. */
  readonly live: LiveSite | null;
}

/** Where what is deployed comes from. */
export interface ContentSource {
  /** The commit that is the newest now. */
  readHead(): Promise<string>;
  readContent(commit: string): Promise<SiteContent>;
}

/** A deployment that GitHub has accepted. */
export interface SiteDeployment {
  readonly id: string;
  /** Whether its content was still the newest after that. */
  readonly isNewest: boolean;
}

/**
 * Deploys a site: artifact, then deployment, always: what is live says nothing of a deployment that is on its way.
 * While another one goes on it waits. It looks for a newer commit before and after each deployment, so that no older
 * content stays over a newer one, and before each at what is live, so that nothing of others is replaced.
 *
 * @throws {DeliveryError} `CONFLICT` where other deployments go on for too long, or somebody else deployed meanwhile
 */
export async function deploySite(
  source: ContentSource,
  target: DeployTarget,
  ports: Ports,
): Promise<SiteDeployment> {
  const { clock, logger, signal } = ports;
  const deadline = clock.now() + target.timeout;
  let uploaded: UploadedSite | null = null;
  let accepted: string | null = null;
  let acceptedCommit = '';
  for (;;) {
    const commit = await source.readHead();
    const isNewest = acceptedCommit === commit;
    if (accepted !== null && (isNewest || clock.now() >= deadline)) return { id: accepted, isNewest };
    if (uploaded?.commit !== commit) {
      if (accepted !== null)
        logger.info('the branch has changed meanwhile: what it has now is deployed as well');
      uploaded = await upload(await source.readContent(commit), target, ports);
      continue;
    }
    const created: Result<string> = await create(uploaded, target, ports);
    if (!hasFailed(created)) {
      accepted = created;
      acceptedCommit = commit;
    } else if (clock.now() < deadline) {
      logger.info(`${created.message}; waiting for its end`);
      await clock.sleep(Math.min(ARTIFACT.pause, deadline - clock.now()), signal);
    } else if (accepted === null) throw created;
  }
}

interface UploadedSite extends Pick<SiteContent, 'receipt'> {
  readonly commit: string;
  readonly artifactId: number;
}

async function upload(content: SiteContent, { runtime }: DeployTarget, ports: Ports): Promise<UploadedSite> {
  const { clock, logger } = ports;
  const { receipt } = content;
  return withRetries(ports, async () => {
    const begun = clock.now();
    const { id, size } = await uploadArtifact(() => packContent(content, begun), runtime, ports);
    const took = Math.round((clock.now() - begun) / SECOND);
    logger.info(
      `uploaded ${receipt.files.size} files as artifact ${id} (${(size / MEGABYTE).toFixed(1)} MB, ${took} s)`,
    );
    return { receipt, commit: receipt.commit, artifactId: id };
  });
}

/** @returns the id; or the refusal, while another deployment goes on */
async function create(
  { receipt, commit, artifactId }: UploadedSite,
  { github, live, root, runtime }: DeployTarget,
  ports: Ports,
): Promise<Result<string>> {
  if (live !== null) refuseOtherSite(await readDeployedReceipt(root, ports), [live, receipt], root);
  // One that arrived without an answer makes the next attempt wait like that of another job.
  const created = await resultOf(() =>
    withRetries(ports, async () => {
      const idToken = await getIdToken(runtime.identity, ports);
      return createPagesDeployment(github, { artifactId, commit, idToken });
    }),
  );
  if (hasFailed(created) && created.code !== 'CONFLICT') throw created;
  return created;
}

const UNDEPLOYED = 'whether the newest files of the branch are deployed: the time was over before that';

/** The placement with its deployment, which is followed. */
export const withDeployment = (placement: Placement, { id, isNewest }: SiteDeployment): Placement => ({
  ...placement,
  deployment: id,
  evidence: `${placement.evidence}, deployment ${id}`,
  unknown: isNewest ? placement.unknown : [...placement.unknown, UNDEPLOYED],
});
