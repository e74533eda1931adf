import type { Report } from '../delivery/report.ts';
import { updateStickyIssue } from '../github/api/issues.ts';
import type { Ports } from '../ports.ts';
import { COMMENTS } from '../protocol/limits.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { type Announce, type Announcement, markerOf } from './announcement.ts';
import { composeFooter, composeOverview } from './overview.ts';

/** Keeps one issue open while an audit finds something lost, and closes it when all is well again. */
export async function beginIssue({ request, run, connect }: Announcement, ports: Ports): Promise<Announce> {
  const { logger, clock } = ports;
  return async (reports) => {
    const lost = reports.filter(isLost).length;
    if (lost === 0 && reports.some(({ ready }) => !ready)) {
      logger.info('The issue stays as it is: the audit did not find out what is lost');
      return;
    }
    const marker = createMarker(request);
    const title =
      lost === 0
        ? 'Everything that was delivered is there again'
        : `${lost} of ${reports.length} deliveries are lost or altered`;
    const body = composeOverview(reports, {
      marker,
      title: 'Audit: ',
      footer: composeFooter({ now: clock.now(), headSha: null, runUrl: run.url }),
      elsewhere: 'see the summary of the run',
      limit: COMMENTS.body,
    });
    const sticky = { marker, title, body, isOpen: lost > 0 };
    const { result, number } = await updateStickyIssue(connect(), sticky, ports);
    logger.info(`Issue${number === null ? '' : ` ${number}`}: ${result}`);
  };
}

/** Where nothing of this tool is found any more, all of it may be lost. */
const isLost = ({ verdict, notReady }: Report): boolean =>
  verdict === 'lost' ||
  (verdict === undefined && notReady?.code === 'NOT_FOUND' && notReady.step === 'check');

/** Audits of the same part of a repository share an issue. */
function createMarker({ repository, path = '', branch = '', channels }: DeliveryRequest): string {
  const { owner, repo } = repository ?? { owner: '', repo: '' };
  return markerOf([owner, repo, branch, path, channels].join('\n').toLowerCase(), 'audit:');
}
