import type { GitHubClient } from '../../../github/api/client.ts';
import { isLastPage } from '../../../github/api/list-all.ts';
import { SITE } from '../../../protocol/limits.ts';
import { parseMessageBelow, parseSiteRemoval, type SiteCommit } from './site-message.ts';

/** A commit that says that it delivered a site. */
export interface FoundDelivery extends SiteCommit {
  readonly sha: string;
  /** Sha of the commit before it; `null` where there is none. */
  readonly parent: string | null;
  /** Newer commits that delivered a site of its own below the folder. */
  readonly later: readonly SiteCommit[];
}

/** What the history of a folder says of the sites in it. */
export interface SiteHistory {
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly lastCommit?: string | undefined;
  /** By folder, the newest first: its newest delivery; `null` where a newer commit says that it was removed. */
  readonly deliveries: ReadonlyMap<string, FoundDelivery | null>;
  /** Whether all of the history was read. */
  readonly isComplete: boolean;
}

/** How far a history is read. */
export interface HistoryRange {
  /** Pages, each with `SITE.history` commits. */
  readonly pages?: number | undefined;
  /** Whether to read on after the newest delivery of the folder itself, for the sites below it. */
  readonly isWithSitesBelow?: boolean;
}

/**
 * Reads the history of a folder. At the root of the branch each delivery of another folder is part of it.
 *
 * @param folder empty, or ending in `/`
 */
export async function readSiteHistory(
  github: GitHubClient,
  head: string,
  folder: string,
  { pages = SITE.historyPages, isWithSitesBelow = false }: HistoryRange = {},
): Promise<SiteHistory> {
  const place = folder === '' ? {} : { path: folder.slice(0, -1) };
  const deliveries = new Map<string, FoundDelivery | null>();
  const newer: SiteCommit[] = [];
  let lastCommit: string | undefined;
  for (let page = 1; page <= pages; page += 1) {
    const query = { ...github.repository, ...place, sha: head, per_page: SITE.history, page };
    const answer = await github.rest.repos.listCommits(query);
    lastCommit ??= answer.data[0]?.sha;
    for (const { sha, commit, parents } of answer.data) {
      const parent = parents[0]?.sha ?? null;
      readMessage(deliveries, newer, { sha, parent, message: commit.message, folder });
      if (deliveries.has(folder) && !isWithSitesBelow) return { lastCommit, deliveries, isComplete: false };
    }
    if (isLastPage(answer, SITE.history)) return { lastCommit, deliveries, isComplete: true };
  }
  return { lastCommit, deliveries, isComplete: false };
}

interface HistoryCommit extends Pick<FoundDelivery, 'sha' | 'parent'> {
  readonly message: string;
}

function readMessage(
  deliveries: Map<string, FoundDelivery | null>,
  newer: SiteCommit[],
  { message, folder, ...commit }: HistoryCommit & { readonly folder: string },
): void {
  for (const removed of parseSiteRemoval(message)) {
    if (removed.startsWith(folder) && !deliveries.has(removed)) deliveries.set(removed, null);
  }
  const delivery = parseMessageBelow(message, folder);
  if (delivery === null) return;
  const later = newer.filter(
    (one) => one.folder.startsWith(delivery.folder) && one.folder !== delivery.folder,
  );
  if (!deliveries.has(delivery.folder)) deliveries.set(delivery.folder, { ...delivery, ...commit, later });
  newer.push(delivery);
}
