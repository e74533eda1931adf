import { ownMessage } from '../channels/fake-branch.ts';
import { computeBlobSha } from '../world/git/git-store.ts';
import type { TestRepository } from '../world/repository.ts';

/** Commits a file as an earlier delivery of this tool would have done. */
export const commitOwned = (repository: TestRepository, path: string, content: string): Promise<string> =>
  repository.commit(path, content, ownMessage(computeBlobSha(Buffer.from(content)), path));
