import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { createPagesDeployment } from '../../../github/api/pages-deployment.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT, MEGABYTE, SECOND } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { uploadArtifact } from './artifact.ts';
import { type DeployedReceipt, hasSameFiles, readDeployedReceipt } from './deployed-receipt.ts';
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
}

/** What is live, or will be. */
export interface SiteDeployment {
  /** `null` where the live site has these files already. */
  readonly id: string | null;
  readonly content: SiteContent;
}

/**
 * Deploys a site: artifact, then deployment. While another deployment goes on it waits, and then deploys what the
 * newest content is. Whoever is last to be accepted has looked for newer content after that, so that no older content
 * stays over a newer one.
 *
 * @param readContent what is to be deployed now
 * @throws {DeliveryError} `CONFLICT` where other deployments go on for too long
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
  let content = await readContent();
  for (;;) {
    const live = await readOwnReceipt(target, ports);
    if (live !== null && hasSameFiles(live, content.receipt)) {
      return accepted?.content.receipt.commit === content.receipt.commit ? accepted : { id: null, content };
    }
    const { commit } = content.receipt;
    if (artifact.commit !== commit) artifact = { id: await upload(content, target, ports), commit };
    const created = await create(artifact, target, ports);
    if (created instanceof DeliveryError) {
      if (clock.now() >= deadline) {
        if (accepted !== null) return accepted;
        throw created;
      }
      logger.info(`${created.message}; waiting for its end`);
      await clock.sleep(Math.min(ARTIFACT.pause, deadline - clock.now()), signal);
      content = await readContent();
      continue;
    }
    accepted = { id: created, content };
    content = await readContent();
    if (content.receipt.commit === commit || clock.now() >= deadline) return accepted;
    logger.info('the branch has changed meanwhile: what it has now is deployed as well');
  }
}

/** What this tool has deployed, if that can be read: it spares a deployment. */
export async function readOwnReceipt(
  { root }: Pick<DeployTarget, 'root'>,
  ports: Ports,
): Promise<DeployedReceipt | null> {
  const live = await resultOf(() => readDeployedReceipt(root, ports));
  ports.signal.throwIfAborted();
  return hasFailed(live) || typeof live === 'string' ? null : (live as DeployedReceipt);
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
