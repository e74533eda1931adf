import { type GitHubClient, isLastPage } from '../../../github/api/client.ts';
import { AUDIT } from '../../../protocol/limits.ts';
import { type Delivered, parseMessage } from '../commit-message.ts';
import { createKeptLookup } from '../delivered-tree.ts';
import { isFolderPath } from '../target.ts';

/** What a commit of this tool says that it did to one place of the branch, where no newer one did the same. */
export interface Claim {
  readonly sha: string;
  /** Sha of the commit before it; absent where there is none. */
  readonly parent: string | undefined;
  readonly message: string;
  /** The path of a file, or a folder that ends in `/`, or is empty for the branch's root. */
  readonly place: string;
  /** Absent where the place was removed. */
  readonly delivered?: Delivered | undefined;
  /** Whether newer commits of this tool delivered what a path below the place holds now. */
  readonly isReplaced: (path: string) => boolean;
}

/**
 * Reads what this tool says that it delivered to a folder and below it, the newest first, in requests of a hundred
 * commits each. A claim that delivered nothing is a removal.
 *
 * @param head sha of the commit to begin with
 * @param place as of `auditedPlace`
 * @returns `isComplete` tells whether all of the history was read
 */
export async function readClaims(github: GitHubClient, head: string, place: string) {
  const claims = new Map<string, Claim>();
  const index = createIndex();
  for (let page = 1; page <= AUDIT.pages; page += 1) {
    const path = place === '' ? {} : { path: place };
    const query = { ...github.repository, ...path, sha: head, per_page: AUDIT.commits, page };
    const answer = await github.rest.repos.listCommits(query);
    for (const { sha, commit, parents } of answer.data) {
      for (const said of readMessage(commit.message)) {
        const isReplaced = index.add(said);
        if (!isWithin(said.place, place) || claims.has(said.place)) continue;
        const { message } = commit;
        claims.set(said.place, { ...said, sha, parent: parents[0]?.sha, message, isReplaced });
      }
    }
    if (isLastPage(answer, AUDIT.commits)) return { claims: [...claims.values()], isComplete: true };
  }
  return { claims: [...claims.values()], isComplete: false };
}

/** What an audit looks at: a file or a folder, without the slash at its end; nothing for all. */
export const auditedPlace = (path = ''): string => path.replace(/^\.\/$|\/$/g, '');

/** Whether a path is an audited place or lies in it. */
export const isWithin = (path: string, place: string): boolean =>
  place === '' || path === place || path.startsWith(`${place}/`);

type Said = Pick<Claim, 'place' | 'delivered'>;

/** The places that a commit message names; none for a commit of somebody else. */
function readMessage(message: string): readonly Said[] {
  const { delivered, removed = [] } = parseMessage(message) ?? {};
  return [
    ...(delivered ? [{ place: delivered.place, delivered }] : []),
    ...removed.map((place) => ({ place })),
  ];
}

/** Remembers what newer commits delivered, in one list for all claims. */
function createIndex() {
  const files = new Map<string, number>();
  const sites: { readonly folder: string; readonly isKept: (path: string) => boolean }[] = [];
  let count = 0;
  return {
    /** @returns whether something newer than this delivered what a path holds */
    add({ place, delivered }: Said): Claim['isReplaced'] {
      const age = count;
      const newer = sites.length;
      count += 1;
      if (delivered && isFolderPath(place)) {
        sites.push({ folder: place, isKept: createKeptLookup(delivered) });
      } else if (delivered) {
        for (const path of [place, ...delivered.pictures.map((one) => one.path)]) {
          if (!files.has(path)) files.set(path, age);
        }
      }
      let nearby: typeof sites | undefined;
      return (path) => {
        nearby ??= sites
          .slice(0, newer)
          .filter(({ folder }) => folder.startsWith(place) || place.startsWith(folder));
        const isIn = (one: (typeof sites)[number]): boolean =>
          path.startsWith(one.folder) && !one.isKept(path);
        return (files.get(path) ?? age) < age || nearby.some(isIn);
      };
    },
  };
}
