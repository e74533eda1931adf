import type { Ports } from '../../ports.ts';
import { ISSUES } from '../../protocol/limits.ts';
import { type GitHubClient, listAll } from './client.ts';
import { keepOldest } from './sticky.ts';

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
 * Keeps one issue on a subject: opened, or opened again, while it is needed, and closed when it is not. The others are
 * closed, since no issue can be deleted.
 *
 * @throws {DeliveryError} as `keepOldest`.
 */
export async function updateStickyIssue(
  github: GitHubClient,
  { marker, title, body, isOpen }: StickyIssue,
  ports: Ports,
): Promise<IssueResult> {
  const { rest, repository } = github;
  const { item, result } = await keepOldest(
    github,
    {
      marker,
      list: async (creator) => {
        const query = { ...repository, creator, state: 'all' } as const;
        const issues = await listAll(ISSUES, (page) => rest.issues.listForRepo({ ...query, ...page }));
        return issues.filter((one) => !one.pull_request);
      },
      ...(isOpen && {
        create: async () => (await rest.issues.create({ ...repository, title, body })).data,
      }),
      drop: async ({ number, state }) => {
        if (state === 'closed') return;
        const closed = { state: 'closed', state_reason: 'not_planned' } as const;
        await rest.issues.update({ ...repository, issue_number: number, ...closed });
      },
      update: async ({ number, state }): Promise<IssueResult['result']> => {
        // What was well before, and is, needs no word.
        if (!isOpen && state === 'closed') return 'none';
        const change = isOpen
          ? ({ state: 'open' } as const)
          : ({ state: 'closed', state_reason: 'completed' } as const);
        await rest.issues.update({ ...repository, issue_number: number, title, body, ...change });
        return isOpen ? (state === 'closed' ? 'opened' : 'updated') : 'closed';
      },
    },
    ports,
  );
  return { result: result === 'created' ? 'opened' : result, number: item?.number ?? null };
}
