import { type ChannelKey, TOOL } from '../protocol/words.ts';
import type { Face } from '../words.ts';
import { FLAGS, isSwitch } from './commands.ts';
import { INPUTS, type InputDefinition, type InputName, type ToolName } from './inputs.ts';

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

/** The words of a tool with its arguments; only the person who configured the server can set other inputs. */
export function toolFace(tool: ToolName, args: readonly InputName[], token = TOKEN): Face {
  const verifies = tool === 'verify';
  // An agent withdraws by URL only.
  const isAddress = (name: string): boolean => name === 'path' && tool === 'withdraw';
  const isFlag = (name: string): boolean =>
    !isAddress(name) && FLAGS.some((flag) => flag === name && !args.includes(flag));
  const input: Face['input'] = (name, value) => {
    if (name === 'token') return `\`${token}\``;
    if (isAddress(name)) return `\`url\`${value === undefined ? '' : ` to the URL of ${value}`}`;
    // The value of this flag is only for the person who reads the log.
    if (isFlag(name)) return formatFlag(name, name === 'allow-secret' ? undefined : value);
    return formatArgument(name as InputName, value);
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
    link: verifies ? 'set `url` to the link to verify' : 'use the tool verify for a link',
    ownToken: '',
    folder: 'the allowed folder',
    filesIn: () => 'each on a line of `file`',
    leaveOut: () => 'deliver a folder without it',
    others(names) {
      const flags = names.filter(isFlag).map((name) => `\`--${name}\``);
      const settings = [
        ...(names.includes('token') ? [`\`${token}\` in its environment`] : []),
        ...(flags.length === 0 ? [] : [`${flags.join(', ')} among its flags`]),
      ];
      if (settings.length === 0) return '';
      return ` (only the person who configured this server can set ${settings.join(' and ')})`;
    },
  };
}

function formatArgument(name: InputName, value?: string): string {
  const { argument, json }: InputDefinition = INPUTS[name];
  const shown = argument?.name ?? name;
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
    ? 'ask the person who configured this server for another channel'
    : `use ${own.map((key) => formatArgument('channel', key)).join(' or ')}`;
}
