import { DeliveryError, toDeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { createPagesDeployment } from '../../../github/api/pages-deployment.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT, MEGABYTE, SECOND } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { uploadArtifact } from './artifact.ts';
import { type LiveSite, readDeployedReceipt, refuseOtherSite } from './deployed-receipt.ts';
import { getIdToken } from './job-identity.ts';
import type { requireJobRuntime } from './job-runtime.ts';
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

/** A deployment that GitHub has accepted. */
export interface SiteDeployment {
  readonly id: string;
  readonly content: SiteContent;
  /** Whether the content was still the newest after that. */
  readonly isNewest: boolean;
}

/**
 * Deploys a site: artifact, then deployment, always: what is live says nothing of a deployment that is on its way.
 * While another one goes on it waits. It looks for newer content before and after each deployment, so that no older
 * content stays over a newer one, and before each at what is live, so that nothing of others is replaced.
 *
 * @param readContent what is to be deployed now
 * @throws {DeliveryError} `CONFLICT` where other deployments go on for too long, or somebody else deployed meanwhile
 * @see design 7
 */
export async function deploySite(
  readContent: () => Promise<SiteContent>,
  target: DeployTarget,
  ports: Ports,
): Promise<SiteDeployment> {
  const { clock, logger, signal } = ports;
  const deadline = clock.now() + target.timeout;
  let artifact = { id: 0, commit: '' };
  let accepted: SiteDeployment | null = null;
  for (;;) {
    const content = await readContent();
    const { commit } = content.receipt;
    if (accepted?.content.receipt.commit === commit) return { ...accepted, isNewest: true };
    if (accepted !== null && clock.now() >= deadline) return accepted;
    if (artifact.commit !== commit) {
      if (accepted !== null)
        logger.info('the branch has changed meanwhile: what it has now is deployed as well');
      artifact = { id: await upload(content, target, ports), commit };
      continue;
    }
    if (target.live !== null) {
      const live = await readDeployedReceipt(target.root, ports);
      refuseOtherSite(live, [target.live, content.receipt], target.root);
    }
    const created = await create(artifact, target, ports);
    if (!(created instanceof DeliveryError)) {
      accepted = { id: created, content, isNewest: false };
    } else {
      if (clock.now() >= deadline) {
        if (accepted !== null) return accepted;
        throw created;
      }
      logger.info(`${created.message}; waiting for its end`);
      await clock.sleep(Math.min(ARTIFACT.pause, deadline - clock.now()), signal);
    }
  }
}

async function upload(content: SiteContent, { runtime }: DeployTarget, ports: Ports): Promise<number> {
  const { clock, logger } = ports;
  return withRetries(ports, async () => {
    const begun = clock.now();
    const { id, size } = await uploadArtifact(() => packContent(content, begun), runtime, ports);
    const took = Math.round((clock.now() - begun) / SECOND);
    logger.info(
      `uploaded ${content.receipt.files.size} files as artifact ${id} (${(size / MEGABYTE).toFixed(1)} MB, ${took} s)`,
    );
    return id;
  });
}

/** @returns the id; or the refusal, while another deployment goes on */
async function create(
  artifact: { readonly id: number; readonly commit: string },
  { github, runtime }: DeployTarget,
  ports: Ports,
): Promise<string | DeliveryError> {
  try {
    // One that arrived without an answer makes the next attempt wait like that of another job.
    return await withRetries(ports, async () => {
      const idToken = await getIdToken(runtime.identity, ports);
      return createPagesDeployment(github, { artifactId: artifact.id, commit: artifact.commit, idToken });
    });
  } catch (thrown) {
    const failure = toDeliveryError(thrown);
    if (failure.code !== 'CONFLICT') throw failure;
    return failure;
  }
}
