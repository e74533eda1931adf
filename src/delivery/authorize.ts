import { toDeliveryError } from '../errors.ts';
import type { RepositoryContext } from '../github/api/repository.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { DeliveryContext, OpenRepository } from './delivery-context.ts';

/**
 * Gets a token where one is needed, and what the choice of a channel depends on.
 *
 * @throws {DeliveryError} with the step `authorize`
 * @see protocol 5
 */
export async function authorize(
  request: Pick<DeliveryRequest, 'channels'>,
  context: DeliveryContext,
): Promise<OpenRepository> {
  const query = { site: isWanted('K1', request), repository: isWanted('K2', request) };
  context.logger.startSection('Authorize');
  const opened = await context.openRepository(query).catch((thrown: unknown) => {
    throw toDeliveryError(thrown).withStep('authorize');
  });
  for (const line of describeRepository(opened.repository)) context.logger.info(line);
  return opened;
}

/** Whether a channel may be chosen. */
export const isWanted = (key: ChannelKey, { channels }: Pick<DeliveryRequest, 'channels'>): boolean =>
  channels === 'auto' || channels.includes(key);

function describeRepository({ hasToken, privateRepository, site }: RepositoryContext): string[] {
  const lines = [hasToken ? 'there is a token' : 'there is no token, or no repository for it'];
  if (privateRepository !== null) lines.push(`the repository is ${privateRepository ? 'private' : 'public'}`);
  if (site === null) lines.push('the repository has no Pages site');
  else if (site === 'unreadable') lines.push("the repository's Pages settings can't be read");
  else if (site !== 'unasked') {
    const source =
      site.builtBy === 'workflow' ? 'a workflow' : `branch ${site.branch}, folder /${site.folder}`;
    lines.push(`the Pages site on ${site.base.host} is built from ${source}`);
  }
  return lines;
}
