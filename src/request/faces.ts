import { type ChannelKey, TOOL } from '../protocol/words.ts';
import type { Face } from '../words.ts';
import { FLAGS, isSwitch } from './commands.ts';
import { argumentOf, INPUTS, type InputDefinition, type InputName, type ToolName } from './inputs.ts';

const TOKEN = 'GITHUB_TOKEN';

/** The words of a command, with the variable that has the token. `verify` takes a link instead of files. */
export function commandFace(command: string, token = TOKEN): Face {
  const isLink = command === 'verify';
  const operands: Readonly<Record<string, string>> = isLink
    ? { token, url: '`URL`' }
    : { token, file: '`FILE`', content: 'standard input' };
  const input: Face['input'] = (name, value) => operands[name] ?? formatFlag(name, value);
  return {
    input,
    subject: (name) => (name === 'token' ? 'the token' : input(name)),
    ...(isLink ? { use: () => 'publish the file with the command `deliver`' } : {}),
    link: isLink ? 'give the link to verify' : `verify a link with \`${TOOL.name} verify URL\``,
    ownToken: '',
    folder: 'the current folder',
    leaveOut: (pattern) => `leave it out: add \`'!${pattern}'\``,
  };
}

function formatFlag(name: string, value?: string): string {
  const flag = `\`--${name}\``;
  if (value === undefined) return flag;
  if (isSwitch(name as InputName)) return value === 'true' ? flag : `\`--${name}=${value}\``;
  return `\`--${name} ${/^[\w./:@%+=,*<>…-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}\``;
}

/** These widen what a call may do, or lift a check. Only the server's log names them, never an answer. */
const CONSENTS: readonly string[] = [
  ...['overwrite', 'allow-secret', 'allow-public-bin'],
  ...['screen', 'self-contained', 'browser-sandbox'],
];

/** What only the person who configured the server can do. @param isSecret whether no answer may repeat it */
export type TellHuman = (way: string, isSecret: boolean) => void;

/** The words of a tool with its arguments; only the person who configured the server can set other inputs. */
export function toolFace(
  tool: ToolName,
  args: readonly InputName[],
  token = TOKEN,
  tellHuman: TellHuman = () => undefined,
): Face {
  const verifies = tool === 'verify';
  // An agent withdraws by URL only.
  const isAddress = (name: string): boolean => name === 'path' && tool === 'withdraw';
  const isOwn = (name: string): boolean => isAddress(name) || args.some((argument) => argument === name);
  const isFlag = (name: string): boolean => !isOwn(name) && FLAGS.some((flag) => flag === name);
  const input: Face['input'] = (name, value) => {
    if (name === 'token') return `\`${token}\``;
    if (isAddress(name)) return `\`url\`${value === undefined ? '' : ` to the URL of ${value}`}`;
    return isFlag(name) ? formatFlag(name, value) : formatArgument(name as InputName, value);
  };
  return {
    input,
    subject(name) {
      if (name === 'token') return 'the token';
      return isFlag(name) ? input(name) : `argument ${input(name)}`;
    },
    use: (_, channels) => (verifies ? 'use the tool deliver' : useChannel(channels, args)),
    // Only the person who configured the server chooses another channel.
    orUse: () => '',
    fingerprint: () => '',
    person(way) {
      tellHuman(way, false);
      return `ask your human to ${way}`;
    },
    link: verifies ? 'set `url` to the link to verify' : 'use the tool verify for a link',
    ownToken: '',
    folder: 'the allowed folder',
    list: 'use the tool list to see what was delivered',
    leaveOut: () => 'deliver a folder without it',
    ...referToHuman(isOwn, tellHuman),
  };
}

/** Other settings need the human. An answer leaves out those that widen what a call may do. */
const referToHuman = (
  isOwn: (name: string) => boolean,
  tellHuman: TellHuman,
): Pick<Face, 'withhold' | 'advise'> => ({
  withhold(name, way) {
    if (isOwn(name)) return false;
    tellHuman(way, CONSENTS.includes(name));
    return true;
  },
  advise(hint, names) {
    if (names.every(isOwn)) return hint;
    const isSecret = names.some((name) => CONSENTS.includes(name));
    tellHuman(hint, isSecret);
    return isSecret ? "ask your human: only this server's settings allow it" : `ask your human: ${hint}`;
  },
});

function formatArgument(name: InputName, value?: string): string {
  const { argument, json }: InputDefinition = INPUTS[name];
  const shown = argumentOf(name);
  if (value === undefined) return `\`${shown}\``;
  const [own = value] = Object.entries(argument?.values ?? {}).flatMap(([key, is]) =>
    is === value ? key : [],
  );
  return `\`${shown}: ${json === 'string' ? JSON.stringify(own) : own}\``;
}

function useChannel(channels: readonly ChannelKey[], args: readonly InputName[]): string {
  // No argument chooses the public bin or a link.
  const own = args.includes('channel') ? channels.filter((key) => key === 'K1' || key === 'K2') : [];
  return own.length === 0
    ? 'ask your human for another channel'
    : `use ${own.map((key) => formatArgument('channel', key)).join(' or ')}`;
}
