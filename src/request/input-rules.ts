import { serverUrlOf } from '../github/hosts.ts';
import { isPartOfAddress } from '../rules/address-echo.ts';
import { createSecretPattern } from '../secret-pattern.ts';
import type { RawInputs } from './inputs.ts';
import { type ChannelSelection, type Operation, refuseInput } from './values.ts';

/** The rules that no single input can break: they hold between several of them. */

/** The inputs that decide what must be given. */
export interface GivenInputs {
  readonly operation: Operation;
  readonly fileLines: readonly string[];
  readonly channels: ChannelSelection;
  readonly url: URL | undefined;
}

/**
 * Refuses a secret, as any ordinary program writes it, in any input that could be published or printed.
 *
 * @param secrets further credentials of the job, beside the token
 * @see protocol 7 (prohibition 3)
 */
export function refuseLeaks({ token, ...others }: RawInputs, secrets: readonly string[]): void {
  for (const secret of new Set([token, ...secrets].filter((one) => one !== ''))) {
    const { isIn } = createSecretPattern(secret);
    const leak = Object.entries(others).find(([, value]) => isIn(value));
    const kind = secret === token ? 'the token' : 'a credential of this environment';
    if (leak !== undefined) {
      refuseInput((w) => `${w.subject(leak[0])} holds ${kind}`, 'remove it there');
    }
  }
}

/** Refuses two different instances: a token must not reach a host that it does not belong to. */
export function refuseTwoInstances(apiUrl: URL, serverUrl: URL): void {
  const { host, origin } = serverUrlOf(apiUrl);
  if (host === serverUrl.host) return;
  refuseInput(
    `inputs \`api-url\` and \`auth-url\` name two instances: ${apiUrl.host} belongs to ${host}, not to ${serverUrl.host}`,
    (w) => `set ${w.input('auth-url', origin)}, or ${w.input('api-url')} to the API of ${serverUrl.host}`,
  );
}

/** Refuses a marker that every page has which only repeats its address, such as one to sign in. @see design 5 (K4) */
export function refuseMarkerInUrl(url: URL, marker: string | undefined): void {
  if (marker === undefined || !isPartOfAddress(marker, [url])) return;
  refuseInput(
    (w) =>
      `${w.subject('marker')} is a part of the link, so a page that only repeats its address would have it too`,
    (w) => `set ${w.input('marker')} to a text that only the content has`,
  );
}

/** Refuses a picture that no browser would take. */
export function refuseUnseenPicture({
  picture,
  screen,
}: {
  readonly picture: boolean;
  readonly screen: string;
}): void {
  if (!picture || screen !== 'off') return;
  refuseInput('a picture of the page needs a browser', (w) => `set ${w.input('screen', 'auto')}`);
}

/** Refuses to ask a person for a token that there is no use for. */
export function refuseUselessClientId(
  { channels, fileLines, operation }: GivenInputs,
  raw: Pick<RawInputs, 'client-id' | 'token' | 'repository'>,
): void {
  const isLink = fileLines.length === 0 && operation === 'deliver';
  const usesGitHub = channels === 'auto' ? !isLink : channels.some((key) => key === 'K1' || key === 'K2');
  if (raw['client-id'] === '' || raw.token !== '' || raw.repository.trim() !== '' || !usesGitHub) return;
  refuseInput(
    (w) => `${w.subject('client-id')} is given, but no repository that a token would be asked for`,
    (w) => `set ${w.input('repository', 'owner/name')}, or leave ${w.input('client-id')} out`,
  );
}

/** Refuses two inputs that each name the channel of `auto`: one of them would have no effect. */
export function refuseTwoChannels({ channels }: GivenInputs, raw: RawInputs): void {
  const naming = (['tag', 'bin', 'url'] as const).filter((name) => raw[name] !== '');
  if (channels !== 'auto' || naming.length < 2) return;
  refuseInput(
    `inputs ${naming.map((name) => `\`${name}\``).join(' and ')} name different channels`,
    (w) => `leave out all but one of them, or name the channels in ${w.input('channel')}`,
  );
}

/** Refuses a request that lacks an input. */
export function refuseMissingInputs(given: GivenInputs, raw: RawInputs): void {
  if (given.operation === 'withdraw') refuseMissingForWithdrawal(given, raw);
  else refuseMissingForDelivery(given, raw);
}

function refuseMissingForDelivery({ fileLines, channels, url }: GivenInputs, { marker }: RawInputs): void {
  if (fileLines.length === 0 && url === undefined) {
    refuseInput(
      'there is nothing to deliver',
      (w) => `set ${w.input('file')} to the file, ${w.input('content')} to a text, or ${w.link}`,
    );
  }
  if (channels !== 'auto' && channels.includes('K4') && url === undefined) {
    refuseInput(
      'channel K4 needs the link to check',
      (w) => `${w.link} that the environment gave, or ${w.use('K1, K2 or K3')}`,
    );
  }
  if (fileLines.length > 0) return;
  if (channels !== 'auto' && channels.some((key) => key !== 'K4')) {
    refuseInput(
      (w) => `${w.subject('file')} is missing`,
      (w) => `name it; for a link alone, ${w.use('K4')}`,
    );
  }
  if (marker === '') {
    refuseInput(
      "a link alone can't be proven",
      (w) => `set ${w.input('marker')} to a text that it shows, or ${w.input('file')} to its content`,
    );
  }
}

function refuseMissingForWithdrawal({ fileLines, channels }: GivenInputs, raw: RawInputs): void {
  const { path, bin, tag } = raw;
  const isNamed = fileLines.length > 0;
  const selected = channels === 'auto' ? [bin !== '' ? 'K3' : tag !== '' ? 'K2' : 'K1'] : channels;
  if (!isNamed && path === '') {
    refuseInput('there is nothing to withdraw', (w) => `name a file, or set ${w.input('path')}`);
  }
  if (selected.includes('K4')) {
    refuseInput("the environment's own link (K4) can't be withdrawn", (w) => w.use('K1, K2 or K3'));
  }
  if (!isNamed && path.endsWith('/') && selected.some((key) => key !== 'K1')) {
    refuseInput(
      'K2 and K3 have no folders to withdraw',
      (w) => `set ${w.input('file')} to the names, or ${w.input('path')} to one of them`,
    );
  }
  if (selected.includes('K3') && bin === '') {
    refuseInput('the bin to withdraw from is not named', (w) => `set ${w.input('bin')} to the reported name`);
  }
}
