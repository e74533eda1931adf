import type { Ports } from '../../ports.ts';
import { ISSUES } from '../../protocol/limits.ts';
import { type GitHubClient, listAll } from './client.ts';
import { keepOldest } from './sticky.ts';

/** What the one issue of this tool on a subject says. */
interface StickyIssue {
  /** An HTML comment: the first line of the body, by which the issue is found again. */
  readonly marker: string;
  readonly title: string;
  /** Begins with the marker. */
  readonly body: string;
  /** Whether it is needed; one that is not is closed, and never opened. */
  readonly isOpen: boolean;
}

/**
 * Keeps one issue on a subject: opened, or opened again, while it is needed, and closed when it is not. The others are
 * closed, since no issue can be deleted.
 *
 * @returns what was done, and with which issue; `none` where there was none, or where it needs no word
 * @throws {DeliveryError} as `keepOldest`.
 */
export async function updateStickyIssue(
  github: GitHubClient,
  { marker, title, body, isOpen }: StickyIssue,
  ports: Ports,
) {
  const { rest, repository } = github;
  const query = { ...repository, state: 'all' } as const;
  const create = async () => (await rest.issues.create({ ...repository, title, body })).data;
  const list = async (creator: string) => {
    const issues = await listAll(ISSUES, (page) => rest.issues.listForRepo({ ...query, creator, ...page }));
    return issues.filter((one) => !one.pull_request);
  };
  const drop = async ({ number, state }: Awaited<ReturnType<typeof list>>[number]) => {
    if (state === 'closed') return;
    const closed = { state: 'closed', state_reason: 'not_planned' } as const;
    await rest.issues.update({ ...repository, issue_number: number, ...closed });
  };
  const kind = { marker, list, create: isOpen ? create : null, drop };
  const { kept, isNew } = await keepOldest(github, kind, ports);
  const wasClosed = kept?.state === 'closed';
  // What was well before, and is, needs no word.
  if (kept === undefined || (wasClosed && !isOpen)) return { result: 'none', number: kept?.number ?? null };
  const { number } = kept;
  if (isNew) return { result: 'opened', number };
  const state = isOpen
    ? ({ state: 'open' } as const)
    : ({ state: 'closed', state_reason: 'completed' } as const);
  await rest.issues.update({ ...repository, issue_number: number, title, body, ...state });
  const opened = wasClosed ? 'opened' : 'updated';
  return { result: isOpen ? opened : 'closed', number };
}
