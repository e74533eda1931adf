import type { ChannelMap } from '../channels/channel.ts';
import type { RepositoryContext, RepositoryQuery } from '../github/api/repository.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { FindFiles } from './find-files.ts';

/** What a story is told with; the composition root brings it together. */
export interface House {
  readonly ports: Ports;
  readonly find: FindFiles;
  /** Finds a token where one is needed, and what the choice of a channel depends on. */
  readonly authorize: (needs: RepositoryQuery) => Promise<Authorized>;
}

export interface Authorized {
  readonly circumstances: RepositoryContext;
  readonly channels: ChannelMap;
}

/** Finds out what the choice of a channel needs to know. */
export function authorize({ channels }: DeliveryRequest, house: House): Promise<Authorized> {
  const wishes = (key: ChannelKey): boolean => channels === 'auto' || channels.includes(key);
  const needs = { site: wishes('K1'), repository: channels === 'auto' || wishes('K2') };
  const { logger } = house.ports;
  return logger.group('Authorize', async () => {
    const authorized = await house.authorize(needs);
    for (const line of inWords(authorized.circumstances)) logger.info(line);
    return authorized;
  });
}

function inWords({ hasToken, privateRepository, site }: RepositoryContext): string[] {
  const lines = [hasToken ? 'there is a token' : 'there is no token for a repository'];
  if (privateRepository !== null) lines.push(`the repository is ${privateRepository ? 'private' : 'public'}`);
  if (site === null) lines.push('it has no Pages site');
  else if (site === 'unreadable') lines.push("its Pages settings can't be read");
  else if (site !== 'unasked') {
    const source =
      site.builtBy === 'workflow' ? 'a workflow' : `branch ${site.branch}, folder /${site.folder}`;
    lines.push(`its Pages site on ${site.base.host} is built by ${source}`);
  }
  return lines;
}
