import type { Channels } from '../channels/channel.ts';
import type { Circumstances, Needs } from '../github/survey.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { Find } from './files.ts';
import type { DeliveryRequest } from './request.ts';

/** What a story is told with; the composition root brings it together. */
export interface House {
  readonly ports: Ports;
  readonly find: Find;
  /** Finds a token where one is needed, and what the choice of a channel depends on. */
  readonly authorise: (needs: Needs) => Promise<Authorised>;
}

export interface Authorised {
  readonly circumstances: Circumstances;
  readonly channels: Channels;
}

/** Finds out what the choice of a channel needs to know. */
export function authorise({ channels }: DeliveryRequest, house: House): Promise<Authorised> {
  const wishes = (key: ChannelKey): boolean => channels === 'auto' || channels.includes(key);
  const needs = { site: wishes('K1'), repository: channels === 'auto' || wishes('K2') };
  const { logger } = house.ports;
  return logger.group('Authorise', async () => {
    const authorised = await house.authorise(needs);
    for (const line of inWords(authorised.circumstances)) logger.info(line);
    return authorised;
  });
}

function inWords({ hasToken, privateRepository, site }: Circumstances): string[] {
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
