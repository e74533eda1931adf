import { createHash } from 'node:crypto';
import type { Report } from '../delivery/report.ts';
import type { GitHubClient } from '../github/api/client.ts';
import { TOOL } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { CurrentRun } from './current-run.ts';
import type { PullRequest } from './pull-request.ts';

export interface Announcement {
  readonly request: DeliveryRequest;
  readonly run: CurrentRun;
  readonly pull: PullRequest | null;
  /** Opens the API of the event's own repository. */
  readonly connect: () => GitHubClient;
}

/** Tells how the delivery ended. @param reports without secrets: they can't be found once the text is escaped */
export type Announce = (reports: readonly Report[]) => Promise<void>;

/** The HTML comment by which a comment or an issue about the same is found again. */
export const markerOf = (subject: string, kind = ''): string =>
  `<!-- ${TOOL.name}:${kind}${createHash('sha256').update(subject).digest('hex').slice(0, 16)} -->`;
