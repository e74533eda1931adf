import type { RepositoryName } from '../github/hosts.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { decodePath } from '../rules/naming.ts';
import { refuseInput } from './input-kinds.ts';
import type { ChannelSelection } from './values.ts';

/** The inputs that say which deliveries an address may belong to. */
interface AddressContext {
  readonly channel: ChannelSelection;
  readonly path: string | undefined;
  readonly tag: string | undefined;
  readonly bin: string | undefined;
  readonly binHostUrl: URL;
  readonly authUrl: URL;
  readonly repository: RepositoryName | undefined;
}

/** What an address says in place of inputs. */
interface LocatedDelivery extends Partial<Pick<AddressContext, 'path' | 'tag' | 'bin'>> {
  readonly channels: readonly [ChannelKey];
  /** K1: the settings of the site tell which path of the branch it is. */
  readonly address?: URL;
}

/** Where a delivery is that is withdrawn by its address. @throws {DeliveryError} `BAD_INPUT` where other inputs leave it out */
export function locateDelivery(address: URL, context: AddressContext): LocatedDelivery {
  const located = parseAddress(address, context);
  const [key] = located.channels;
  if (context.channel !== 'auto' && !context.channel.includes(key)) {
    refuseAddress('channel', context.channel.join('+'));
  }
  for (const name of ['tag', 'bin', 'path'] as const) {
    const [wanted, found] = [context[name], located[name]];
    // A folder in `path` is for the site alone.
    const isOpen = wanted === undefined || found === undefined || wanted.endsWith('/');
    if (!isOpen && wanted !== found) refuseAddress(name, wanted);
  }
  return located;
}

function parseAddress(address: URL, { binHostUrl, authUrl, repository }: AddressContext): LocatedDelivery {
  const parts = decodePath(address.pathname).split('/').slice(1);
  const [owner, repo, releases, download, ...rest] = parts;
  const path = parts.at(-1) ?? '';
  if (address.host === binHostUrl.host && path !== '') return { channels: ['K3'], bin: parts.at(-2), path };
  if (address.host !== authUrl.host || releases !== 'releases' || download !== 'download' || path === '') {
    return { channels: ['K1'], address };
  }
  const own = repository && `${repository.owner}/${repository.repo}`;
  if (own?.toLowerCase() !== `${owner}/${repo}`.toLowerCase()) refuseAddress('repository', own);
  return { channels: ['K2'], tag: rest.slice(0, -1).join('/'), path };
}

const refuseAddress = (name: string, value: string | undefined): never =>
  refuseInput(
    (w) => `${w.subject('url')} leads elsewhere than ${w.input(name, value)}`,
    (w) => `set ${w.input('url')} to an address that was delivered there`,
  );
