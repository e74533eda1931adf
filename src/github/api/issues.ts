import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Ports } from '../../ports.ts';
import { ISSUES } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { type GitHubClient, listAll } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

type Issue = RestEndpointMethodTypes['issues']['listForRepo']['response']['data'][number];

/** What the one issue of this tool on a subject says. */
export interface StickyIssue {
  /** An HTML comment: the first line of the body, by which the issue is found again. */
  readonly marker: string;
  readonly title: string;
  /** Begins with the marker. */
  readonly body: string;
  /** Whether it is needed; one that is not is closed, and never opened. */
  readonly isOpen: boolean;
}

/** What was done; `none` where there was no issue, and none is needed. */
type IssueResult = 'opened' | 'updated' | 'closed' | 'none';

/**
 * Keeps one issue on a subject: opened, or opened again, while it is needed, and closed when it is not. Our own issues
 * are found by marker and author both, since anybody can write a marker. Jobs that open one at the same moment all keep
 * the oldest and close the others, since no issue can be deleted.
 *
 * @returns with the number of the issue
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` when the token may not write issues there.
 */
export async function updateStickyIssue(
  github: GitHubClient,
  sticky: StickyIssue,
  ports: Ports,
): Promise<{ readonly result: IssueResult; readonly number: number | null }> {
  const { rest, repository } = github;
  const { login: author } = await getTokenOwner(github);
  const { marker, title, body, isOpen } = sticky;
  return withRetries(ports, async () => {
    const [oldest, ...others] = await listOwnIssues(github, marker, author);
    if (oldest !== undefined) return keepOldest(github, sticky, [oldest, ...others]);
    if (!isOpen) return { result: 'none', number: null };
    const { data } = await rest.issues.create({ ...repository, title, body });
    // Another job may have opened one since the list was read.
    const listed = await listOwnIssues(github, marker, author);
    const all = listed.some(({ number }) => number === data.number) ? listed : [...listed, data];
    const { number } = await keepOldest(github, sticky, all);
    return { result: 'opened', number };
  });
}

/** Our own issues with the marker, the oldest first. A quoted marker is not at the start of the body. */
async function listOwnIssues(
  github: GitHubClient,
  marker: string,
  author: string,
): Promise<readonly Pick<Issue, 'number' | 'state' | 'body' | 'title'>[]> {
  const issues = await listAll(ISSUES, (query) =>
    github.rest.issues.listForRepo({ ...github.repository, creator: author, state: 'all', ...query }),
  );
  return issues
    .filter(
      ({ user, body, pull_request }) => user?.login === author && !pull_request && body?.startsWith(marker),
    )
    .sort((one, other) => one.number - other.number);
}

/** Brings the oldest issue up to date, and closes the others: jobs that do this at once keep the same one. */
async function keepOldest(
  { rest, repository }: GitHubClient,
  { title, body, isOpen }: StickyIssue,
  [oldest, ...others]: readonly Pick<Issue, 'number' | 'state'>[],
): Promise<{ readonly result: IssueResult; readonly number: number | null }> {
  for (const { number, state } of others) {
    if (state === 'closed') continue;
    const closed = { state: 'closed', state_reason: 'not_planned' } as const;
    await rest.issues.update({ ...repository, issue_number: number, ...closed });
  }
  if (oldest === undefined) return { result: 'none', number: null };
  const { number, state } = oldest;
  // What was well before, and is, needs no word.
  if (!isOpen && state === 'closed') return { result: 'none', number };
  const change = isOpen
    ? ({ state: 'open' } as const)
    : ({ state: 'closed', state_reason: 'completed' } as const);
  await rest.issues.update({ ...repository, issue_number: number, title, body, ...change });
  return { result: isOpen ? (state === 'closed' ? 'opened' : 'updated') : 'closed', number };
}
