import { withCleanupSignal } from '../async.ts';
import { composeDocument } from '../delivery/report.ts';
import { DeliveryError } from '../errors.ts';
import { createDeployment, retireDeployments, setDeploymentState } from '../github/api/deployments.ts';
import type { Ports } from '../ports.ts';
import { withRetries } from '../retry.ts';
import type { Announce, Announcement } from './announcement.ts';

/**
 * Makes a deployment for the head of the pull request, or for the job's commit: in progress until the delivery has
 * ended, and only then with its address. Those of earlier runs end, as the comment's link does, whatever the result.
 */
export async function beginDeployment(
  { request: { environment = '', operation }, run, pull, connect }: Announcement,
  ports: Ports,
): Promise<Announce> {
  const source = pull === null ? run.ref : `pull request ${pull.number}`;
  const subject = { environment, source };
  const page = run.url === null ? {} : { log_url: run.url };
  const github = connect();
  let id: number | null = null;
  if (operation === 'deliver') {
    const commit = pull === null ? run.sha : pull.headSha;
    if (!commit) {
      const hint = `leave out \`environment:\` where the run is for this event`;
      throw new DeliveryError('BAD_INPUT', 'the event does not say which commit it is about', { hint });
    }
    id = await createDeployment(github, subject, { commit, isPreview: pull !== null });
    await setDeploymentState(github, id, { state: 'in_progress', ...page });
  }
  return async (reports) => {
    const { result, url } = composeDocument(reports);
    if (id === null && result !== 'withdrawn') return;
    const isStopped = ports.signal.aborted;
    const client = isStopped ? github.withSignal(withCleanupSignal(ports).signal) : github;
    const [address = ''] = url.split('\n');
    if (id !== null) {
      const proven = { state: 'success', environment_url: address } as const;
      await setDeploymentState(client, id, { ...(address ? proven : { state: 'failure' }), ...page });
    }
    if (isStopped) return;
    const retired = await withRetries(ports, () => retireDeployments(github, subject, id));
    const state = id === null ? '' : `${address ? 'success' : 'failure'}, `;
    ports.logger.info(`Deployment to ${environment}: ${state}${retired} of earlier runs made inactive`);
  };
}
