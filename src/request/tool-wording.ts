import { FLAGS } from './commands.ts';
import { type InputName, jsonTypeOf } from './inputs.ts';
import {
  createTextWording,
  formatFlag,
  type InputNotation,
  TOKEN_VARIABLE,
  type Wording,
} from './wording.ts';

/**
 * The words of one tool of the MCP server: inputs are its arguments, with values as JSON. What the tool does not
 * take was set, or can be set, by the person who configured the server; the text then says so.
 *
 * @param args the inputs that the tool takes, as this server was started
 */
export function createToolWording(args: readonly InputName[]): Wording {
  const word = createTextWording(createToolNotation(args), listToolPhrases(args));
  return (text) => {
    const worded = word(text);
    const settings = worded === text ? [] : listSettings(worded);
    return settings.length === 0
      ? worded
      : `${worded} (only the person who configured this server can set ${settings.join(' and ')})`;
  };
}

const createToolNotation = (args: readonly InputName[]): InputNotation => ({
  name: (name) => (args.includes(name) ? `\`${name}\`` : nameSetting(name)),
  value(name, value) {
    if (args.includes(name)) return `\`${name}: ${formatJson(name, value)}\``;
    return FLAGS.includes(name) ? formatFlag(name, value) : nameSetting(name);
  },
  subject(name) {
    if (name === 'token') return 'the token';
    return args.includes(name) ? `argument \`${name}\`` : nameSetting(name);
  },
  again: 'call the tool again',
  folder: 'the allowed folder',
});

function nameSetting(name: InputName): string {
  if (name === 'token') return `\`${TOKEN_VARIABLE}\``;
  return FLAGS.includes(name) ? `\`--${name}\`` : name;
}

/** A value as the argument takes it; a part of a text that is no whole value stays a text. */
function formatJson(name: InputName, value: string): string {
  const type = jsonTypeOf(name);
  const isPlain = type === 'boolean' ? /^(true|false)$/.test(value) : type === 'number' && /^\d/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** What a text names that no argument can set. */
function listSettings(text: string): readonly string[] {
  const named = new Set([...text.matchAll(/`--([a-z-]+)[^`]*`/g)].map(([, name]) => name));
  const flags = FLAGS.filter((name) => named.has(name));
  return [
    ...(text.includes(`\`${TOKEN_VARIABLE}\``) ? [`\`${TOKEN_VARIABLE}\` in its environment`] : []),
    ...(flags.length === 0 ? [] : [`${flags.map((name) => `\`--${name}\``).join(', ')} among its flags`]),
  ];
}

/** What is said in another way to the caller of a tool. */
function listToolPhrases(args: readonly InputName[]): readonly (readonly [RegExp, string])[] {
  const publishes = args.includes('channel') || !args.includes('url');
  return [
    [/\buse (?=a token with the permissions|another token)/g, 'set `token:` to '],
    [/\buse the token of an app/g, 'set `token:` to that of an app'],
    [/\bgive a token\b/g, 'set `token:`'],
    [/name its files, such as `file: [^`]*`/g, 'name its files in `file:`, a line each'],
    ...(publishes ? LINK_PHRASES : PUBLISH_PHRASES),
    ...(args.includes('path') ? [] : [[/; folders belong into `path:`/g, ''] as const]),
  ];
}

/** A link is the business of a tool of its own. */
const LINK_PHRASES = [
  [/set `url:` to the link that/g, 'give the tool verify the link that'],
  [/, or `url:` to a link/g, ', or use the tool verify for a link'],
  [/use channel: K4 for a link alone/g, 'use the tool verify for a link alone'],
] as const;

/** A tool that only verifies chooses no channel. */
const PUBLISH_PHRASES = [[/\buse channel: K\d(?:(?:, | or )K\d)*/g, 'use the tool deliver']] as const;
