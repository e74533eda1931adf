import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitSummary, TestRepository } from '../repository.ts';

const PAUSE_MS = 700;

/** Other authors who commit to the branch at the same time. */
export interface OtherAuthors {
  /** The number of their commits. */
  readonly commits: number;
  /** Stops after the current commit. */
  stop(): Promise<void>;
  /** Lists their lost commits and files, one sentence each. */
  listLosses(log: readonly CommitSummary[]): Promise<string[]>;
}

/**
 * Starts other authors who add, change and delete their own files on the branch.
 *
 * @param most maximum number of their commits
 */
export function startOtherAuthors(repository: TestRepository, most: number): OtherAuthors {
  const commits: string[] = [];
  const files = new Map<string, string | null>();
  let working = true;

  async function commit(at: number): Promise<void> {
    const path = `theirs/note-${at % 5}.txt`;
    const bytes = at % 7 === 6 ? null : `note ${at}\n`;
    if (bytes === null && files.get(path) === null) return;
    commits.push(await repository.commit(path, bytes));
    files.set(path, bytes);
  }
  async function work(): Promise<void> {
    for (let at = 0; working && commits.length < most; at += 1) {
      await commit(at);
      await sleep(PAUSE_MS);
    }
  }
  const worked = work();

  return {
    get commits() {
      return commits.length;
    },
    async stop() {
      working = false;
      await worked;
    },
    async listLosses(log) {
      const known = new Set(log.map(({ sha }) => sha));
      const gone = commits.filter((sha) => !known.has(sha)).map((sha) => `their commit ${sha} is lost`);
      for (const [path, bytes] of files) {
        const existing = (await repository.read(path))?.toString() ?? null;
        if (existing !== bytes) gone.push(`their file ${path} is not as they left it`);
      }
      return gone;
    },
  };
}
