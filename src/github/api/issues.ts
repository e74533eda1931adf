import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Ports } from '../../ports.ts';
import { ISSUES } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { type GitHubClient, listAll } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

type Issue = Pick<
  RestEndpointMethodTypes['issues']['listForRepo']['response']['data'][number],
  'number' | 'state'
>;

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

/** What was done, and with which issue; `none` where there was none, or where it needs no word. */
interface IssueResult {
  readonly result: 'opened' | 'updated' | 'closed' | 'none';
  readonly number: number | null;
}

/**
 * Keeps one issue on a subject: opened, or opened again, while it is needed, and closed when it is not. Our own issues
 * are found by marker and author both, since anybody can write a marker. Jobs that open one at the same moment all keep
 * the oldest and close the others, since no issue can be deleted.
 *
 * @throws {DeliveryError} `NO_PERMISSION` or `NOT_FOUND` when the token may not write issues there.
 */
export async function updateStickyIssue(
  github: GitHubClient,
  sticky: StickyIssue,
  ports: Ports,
): Promise<IssueResult> {
  const { login: author } = await getTokenOwner(github);
  const { marker, title, body, isOpen } = sticky;
  return withRetries(ports, async () => {
    const existing = await listOwnIssues(github, marker, author);
    if (existing.length > 0) return keepOldest(github, sticky, existing);
    if (!isOpen) return { result: 'none', number: null };
    const { data } = await github.rest.issues.create({ ...github.repository, title, body });
    // Another job may have opened one since the list was read, which may not have ours yet.
    const listed = await listOwnIssues(github, marker, author);
    const all = listed.some(({ number }) => number === data.number) ? listed : [...listed, data];
    return { ...(await keepOldest(github, sticky, all)), result: 'opened' };
  });
}

/** Our own issues with the marker, the oldest first. A quoted marker is not at the start of the body. */
async function listOwnIssues(
  { rest, repository }: GitHubClient,
  marker: string,
  author: string,
): Promise<readonly Issue[]> {
  const issues = await listAll(ISSUES, (query) =>
    rest.issues.listForRepo({ ...repository, creator: author, state: 'all', ...query }),
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
  [oldest, ...others]: readonly Issue[],
): Promise<IssueResult> {
  for (const { number } of others.filter(({ state }) => state !== 'closed')) {
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
