import { createHash } from 'node:crypto';
import type { Report } from '../delivery/report.ts';
import type { GitHubClient } from '../github/api/client.ts';
import { TOOL } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { CurrentRun } from './current-run.ts';
import type { PullRequest } from './pull-request.ts';

/** The parts of the request that decide what is announced, and how GitHub is reached. */
export type AnnouncedRequest = Pick<
  DeliveryRequest,
  | ('comment' | 'environment' | 'issue' | 'operation' | 'dryRun' | 'fileLines' | 'path' | 'url')
  | ('token' | 'apiUrl' | 'repository' | 'branch' | 'channels')
>;

/** What an announcement is made with. */
export interface Announcement {
  readonly request: AnnouncedRequest;
  readonly run: CurrentRun;
  /** The pull request that the run is about. */
  readonly pull: PullRequest | null;
  /** Opens the API of the event's own repository. */
  readonly connect: () => GitHubClient;
}

/** The HTML comment by which a comment or an issue about the same is found again. */
export const markerOf = (subject: string, kind = ''): string =>
  `<!-- ${TOOL.name}:${kind}${createHash('sha256').update(subject).digest('hex').slice(0, 16)} -->`;

/** Tells how the delivery ended. @param reports without secrets: they can't be found once the text is escaped */
export type Announce = (reports: readonly Report[]) => Promise<void>;
