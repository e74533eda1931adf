import type { RepositoryContext } from '../github/api/repository.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { DeliveryContext, OpenRepository } from './delivery-context.ts';
import { inStep } from './file-delivery.ts';

/**
 * Gets a token where one is needed, and what the choice of a channel depends on.
 *
 * @throws {DeliveryError} with the step `authorize`
 * @see protocol 5
 */
export async function authorize(
  { channels }: Pick<DeliveryRequest, 'channels'>,
  context: DeliveryContext,
): Promise<OpenRepository> {
  const isWanted = (key: ChannelKey): boolean => channels === 'auto' || channels.includes(key);
  const query = { site: isWanted('K1'), repository: isWanted('K2') };
  context.logger.startSection('Authorize');
  const opened = await inStep('authorize', () => context.openRepository(query));
  for (const line of describeRepository(opened.repository)) context.logger.info(line);
  return opened;
}

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
