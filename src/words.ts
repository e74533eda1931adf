import type { ChannelKey } from './protocol/words.ts';

/** A text for any interface: what is called differently in each comes from its words. */
export type Text = string | ((words: Words) => string);

type Channels = ChannelKey | readonly ChannelKey[];

/** What is called differently in each interface. */
export interface Words {
  /** An input, with its value where one is given, such as `path:` or `path: a/`. */
  input(name: string, value?: string): string;
  /** An input in a sentence on what is wrong with it. */
  subject(name: string): string;
  /** The way out through other channels, the likeliest first. */
  use(channels: Channels): string;
  /** That as the last of several ways; empty where nothing is delivered. @param about what follows it */
  orUse(channels: Channels, about?: string): string;
  /** How the token gets permissions, such as `contents: write`, and what else there is. */
  grant(permissions: string): string;
  /** How a link is proven. */
  readonly link: string;
  /** What follows the word token where the run has one of its own. */
  readonly ownToken: string;
  /** Where files are. */
  readonly folder: string;
  /** The fingerprint of what looks like a secret, in brackets; empty for who must not allow it. */
  fingerprint(hash: string): string;
  /** How all files of a folder are named. */
  filesIn(folder: string): string;
  /** The way out through delivering the rest. */
  leaveOut(pattern: string): string;
  /** Another text, within this one. */
  say(text: Text): string;
}

/** One interface: its words, of which those for channels and permissions follow from its inputs. */
export interface Face
  extends Omit<Words, 'filesIn' | 'leaveOut' | 'use' | 'orUse' | 'grant' | 'say' | 'fingerprint'>,
    Partial<Pick<Words, 'filesIn' | 'leaveOut' | 'orUse' | 'grant' | 'fingerprint'>> {
  /** @param ways the channels in words */
  readonly use?: (ways: string, channels: readonly ChannelKey[]) => string;
  /** What is said after a text that names inputs: who sets those that this interface does not take. */
  readonly others?: (names: readonly string[]) => string;
}

/** What everybody must know of K3 who is told to use it. */
const PUBLIC_BIN = ' (public to anyone with the link)';

/** The action: inputs as YAML. */
export const ACTION: Face = {
  input: (name, value) => (value === undefined ? `\`${name}:\`` : `\`${name}: ${value}\``),
  subject: (name) => `input \`${name}\``,
  use: (ways) => `use channel: ${ways}`,
  grant: (permissions) => `give the job \`permissions: { ${permissions} }\``,
  link: 'set `url:` to the link to verify',
  ownToken: ', such as `${{ github.token }}` (a secret that does not exist is empty)',
  folder: 'the workspace',
};

/** What decides which channels can take a delivery. */
export interface HintContext {
  readonly isFolder?: boolean;
  readonly isPrivate?: boolean;
  /** `false` for what is withdrawn or audited: it is where it is. */
  readonly isDelivered?: boolean;
}

/** A text in the words of one interface; it names only channels that can take what is delivered. */
export function say(text: Text, face: Face, delivered: HintContext = {}): string {
  if (typeof text === 'string') return text;
  const named = new Set<string>();
  const input: Words['input'] = (name, value) => {
    named.add(name);
    return face.input(name, value);
  };
  const words: Words = {
    filesIn: (folder) => `\`'${folder}/**'\``,
    leaveOut: (pattern) => `leave it out: add the line \`!${pattern}\``,
    fingerprint: (hash) => ` (fingerprint ${hash})`,
    ...face,
    grant(permissions) {
      const way = `set ${input('token')} to one with the permissions \`${permissions}\``;
      return `${face.grant?.(permissions) ?? way}${words.orUse('K3')}`;
    },
    orUse: (channels, about = '') =>
      face.orUse?.(channels) ??
      (delivered.isDelivered === false ? '' : `, or ${words.use(channels)}${about}`),
    use(channels) {
      const { isFolder = false, isPrivate = false, isDelivered = true } = delivered;
      // Nobody may read a private repository's releases.
      const open = [channels].flat().filter((key) => key !== 'K2' || !isPrivate);
      const [first = 'K3', ...others] = open;
      const keys = [first, ...others];
      const bin = keys.includes('K3') && isDelivered ? PUBLIC_BIN : '';
      const way =
        face.use?.(joinWays(keys) + bin, keys) ??
        `use ${joinWays([input('channel', first), ...others])}${bin}`;
      const isPage = keys.includes('K1') || keys.includes('K4');
      return isFolder && !isPage ? `pack the folder into one file and ${way}` : way;
    },
    input,
    say: (inner) => (typeof inner === 'string' ? inner : inner(words)),
  };
  const said = text(words);
  return `${said}${face.others?.([...named]) ?? ''}`;
}

/** Such as `K1, K2 or K3`. */
const joinWays = (ways: readonly string[]): string =>
  [ways.slice(0, -1).join(', '), ...ways.slice(-1)].filter((part) => part !== '').join(' or ');
