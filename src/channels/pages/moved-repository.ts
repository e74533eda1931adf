import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';

/**
 * Runs a push by git. Where it finds no repository any more, the API is asked: it knows the new name of one that was
 * renamed meanwhile, and git says only that it was redirected.
 *
 * @throws {DeliveryError} `NOT_FOUND` with the new name; else what the push throws.
 */
export async function nameMovedRepository<T>(
  { rest, repository }: Pick<GitHubClient, 'rest' | 'repository'>,
  push: () => Promise<T>,
): Promise<T> {
  try {
    return await push();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_FOUND') throw thrown;
    const answer = await resultOf(() => rest.repos.get(repository));
    const isMoved = hasFailed(answer) && Math.floor((answer.httpCode ?? 0) / 100) === 3;
    throw isMoved ? answer : thrown;
  }
}
