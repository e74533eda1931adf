import { TOOL } from '../protocol/words.ts';
import type { Face } from '../words.ts';
import { FLAGS, isSwitch } from './commands.ts';
import { INPUTS, type InputName } from './inputs.ts';

const TOKEN = 'GITHUB_TOKEN';

/** The words of a command, with the variable that has the token. `verify` has its link in place of files. */
export function commandFace(command: string, token = TOKEN): Face {
  const isLink = command === 'verify';
  const places: Readonly<Record<string, string>> = isLink
    ? { token, url: '`URL`' }
    : { token, file: '`FILE`', content: 'standard input' };
  const input: Face['input'] = (name, value) => places[name] ?? formatFlag(name, value);
  return {
    input,
    // A token comes from any of several variables.
    subject: (name) => (name === 'token' ? 'the token' : input(name)),
    ...(isLink ? { use: () => 'publish the file with the command `deliver`' } : {}),
    link: isLink ? 'give the link to prove' : `prove a link with \`${TOOL.name} verify URL\``,
    ownToken: '',
    folder: 'the current folder',
  };
}

function formatFlag(name: string, value?: string): string {
  const flag = `\`--${name}\``;
  if (value === undefined) return flag;
  if (isSwitch(name as InputName)) return value === 'true' ? flag : `no ${flag}`;
  return `\`--${name} ${/^[\w./:@%+=,*<>…-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}\``;
}

/** The words of a tool, whose arguments are `args`; all else can be set by who configured the server. */
export function toolFace(args: readonly string[], token = TOKEN): Face {
  const verifies = args.includes('url');
  const isFlag = (name: string): boolean => !args.includes(name) && FLAGS.some((flag) => flag === name);
  const input: Face['input'] = (name, value) => {
    if (name === 'token') return `\`${token}\``;
    if (isFlag(name)) return formatFlag(name, value);
    return value === undefined ? `\`${name}\`` : `\`${name}: ${formatJson(name as InputName, value)}\``;
  };
  return {
    input,
    subject(name) {
      if (name === 'token') return 'the token';
      return args.includes(name) ? `argument \`${name}\`` : input(name);
    },
    ...(verifies ? { use: () => 'use the tool deliver' } : {}),
    link: verifies ? 'set `url` to the link to prove' : 'use the tool verify for a link',
    ownToken: '',
    folder: 'the allowed folder',
    filesIn: () => 'each on a line of `file`',
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

const formatJson = (name: InputName, value: string): string =>
  INPUTS[name].json === 'string' ? JSON.stringify(value) : value;
