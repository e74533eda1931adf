import { decodePath } from '../rules/naming.ts';
import { refuseInput } from './input-kinds.ts';
import type { parseInputs } from './inputs.ts';

type Inputs = ReturnType<typeof parseInputs>;

interface Located extends Partial<Pick<Inputs, 'path' | 'tag' | 'bin'>> {
  readonly channel: readonly ['K1' | 'K2' | 'K3'];
  /** K1: only the settings of the site map it to a path of the branch. */
  readonly address?: URL;
}

/** The inputs, with what the `url` of a withdrawal adds. @throws {DeliveryError} `BAD_INPUT` if another input contradicts it */
export function readAddress(inputs: Inputs): Inputs & Pick<Located, 'address'> {
  const { operation, url, channel } = inputs;
  if (operation !== 'withdraw' || url === undefined) return inputs;
  const located = parseAddress(url, inputs);
  if (channel !== 'auto' && !channel.includes(located.channel[0])) {
    refuseAddress('channel', channel.join('+'));
  }
  for (const name of ['tag', 'bin', 'path'] as const) {
    const [wanted, found] = [inputs[name], located[name]];
    // A folder in `path` is for the site alone.
    const isOpen = wanted === undefined || found === undefined || wanted.endsWith('/');
    if (!isOpen && wanted !== found) refuseAddress(name, wanted);
  }
  return { ...inputs, url: undefined, ...located };
}

function parseAddress(address: URL, { binHostUrl, authUrl, repository }: Inputs): Located {
  const parts = decodePath(address.pathname).split('/').slice(1);
  const [owner, repo, releases, download, ...rest] = parts;
  const path = parts.at(-1) ?? '';
  if (address.host === binHostUrl.host && path !== '') return { channel: ['K3'], bin: parts.at(-2), path };
  if (address.host !== authUrl.host || releases !== 'releases' || download !== 'download' || path === '') {
    return { channel: ['K1'], address };
  }
  const own = repository && `${repository.owner}/${repository.repo}`;
  if (own?.toLowerCase() !== `${owner}/${repo}`.toLowerCase()) {
    const named = address.pathname.split('/').slice(1, 3).join('/');
    refuseInput(
      (w) => `${w.subject('url')} leads to a release of ${named}${own ? `, not of ${own}` : ''}`,
      (w) => `set ${w.input('repository', named)}`,
    );
  }
  return { channel: ['K2'], tag: rest.slice(0, -1).join('/'), path };
}

const refuseAddress = (name: string, value: string | undefined): never =>
  refuseInput(
    (w) => `${w.subject('url')} and ${w.input(name, value)} name different deliveries`,
    (w) => `remove ${w.input(name)}, because the URL is enough`,
  );
