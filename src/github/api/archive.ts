import { addAbortSignal, type Readable } from 'node:stream';
import { DeliveryError, toMessage } from '../../errors.ts';
import { connectionError } from '../../http/client.ts';
import { discard } from '../../http/response.ts';
import type { Ports } from '../../ports.ts';
import { EXCHANGE } from '../../protocol/limits.ts';
import { RETRY_HINT } from '../refusals.ts';
import type { GitHubClient } from './client.ts';

/**
 * All files of a commit as one packed tar stream: two requests, however many files there are. The address that the API
 * names holds a credential of its own, so it gets no token and is shown to nobody.
 *
 * @see https://docs.github.com/rest/repos/contents#download-a-repository-archive-tar
 */
export async function openArchive(
  { rest, repository }: GitHubClient,
  commit: string,
  { http, clock, logger, signal }: Pick<Ports, 'http' | 'clock' | 'logger' | 'signal'>,
): Promise<Readable> {
  const { headers } = await rest.repos.downloadTarballArchive({ ...repository, ref: commit });
  const url = new URL(String(headers.location));
  for (const value of url.searchParams.values()) logger.mask(value);
  try {
    const response = await http({ method: 'GET', url, headers: { accept: '*/*' }, signal });
    if (response.status === 200) return addAbortSignal(clock.timeout(EXCHANGE.archive), response.body);
    discard(response);
    throw archiveError(`answered HTTP ${response.status}`, response.status);
  } catch (thrown) {
    throw connectionError(thrown, { url, signal });
  }
}

export const brokenArchiveError = (thrown: unknown): DeliveryError =>
  thrown instanceof DeliveryError ? thrown : archiveError(`was not complete: ${toMessage(thrown)}`);

const archiveError = (problem: string, httpCode?: number): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the archive of the branch ${problem}`, {
    httpCode,
    hint: RETRY_HINT,
    retryable: true,
  });
