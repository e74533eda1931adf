import type { ChannelKey } from './protocol/words.ts';

/** A text for any interface. Names that differ between interfaces come from its words. */
export type Text = string | ((words: Words) => string);

type Channels = ChannelKey | readonly ChannelKey[];

/** The names that differ between interfaces. */
export interface Words {
  /** An input, with its value if given, such as `path:` or `path: a/`. */
  input(name: string, value?: string): string;
  /** An input as the subject of an error. */
  subject(name: string): string;
  /** A way out: other channels, the likeliest first. */
  use(channels: Channels): string;
  /** The same as the last of several ways. Empty if nothing is delivered. @param about what follows it */
  orUse(channels: Channels, about?: string): string;
  /** A last way out: set an input. Empty for an interface that withholds it. @param about what follows it */
  orSet(name: string, value: string | undefined, about: string): string;
  /** A way out that only a person with access to the repository has, such as `commit a file`. */
  person(way: string): string;
  /** A way out: give the token permissions, such as `contents: write`, or use K3. */
  grant(permissions: string): string;
  /** A way out: verify a link. */
  readonly link: string;
  /** An example after the word token, if the run has its own token. */
  readonly ownToken: string;
  /** The folder that has the files. */
  readonly folder: string;
  /** A way out: see what was delivered. Absent if the interface has no better way than its inputs. */
  readonly list?: string;
  /** The fingerprint of a possible secret, in brackets. Empty for agents, which must not allow it. */
  fingerprint(hash: string): string;
  /** A way out: deliver everything but this. */
  leaveOut(pattern: string): string;
  /** Another text, within this one. */
  say(text: Text): string;
}

/** One interface. Absent words, such as for channels and permissions, follow from its inputs. */
export interface Face
  extends Omit<Words, 'leaveOut' | 'use' | 'orUse' | 'orSet' | 'grant' | 'person' | 'say' | 'fingerprint'>,
    Partial<Pick<Words, 'leaveOut' | 'orUse' | 'grant' | 'person' | 'fingerprint'>> {
  /** @param ways the channels in words */
  readonly use?: (ways: string, channels: readonly ChannelKey[]) => string;
  /** The hint for this interface, which can't set all of the named inputs. */
  readonly advise?: (hint: string, names: readonly string[]) => string;
  /** Takes the last way out of a hint, if this interface may not name the input. */
  readonly withhold?: (name: string, way: string) => boolean;
}

/** A warning wherever a text recommends K3. */
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

/** The facts that decide which channels a hint may name. */
export interface HintContext {
  readonly isFolder?: boolean;
  readonly isPrivate?: boolean;
  /** Its own channels, which are no other way. */
  readonly chosen?: readonly ChannelKey[] | undefined;
  /** `false` for a withdrawal or an audit, which can't choose a channel. */
  readonly isDelivered?: boolean;
}

/** A text in the words of one interface. It names only channels that can take the delivery. */
export const say = (text: Text, face: Face, delivered?: HintContext): string =>
  compose(text, face, delivered).said;

/** A hint in the words of one interface: only ways out that its user can take. */
export function advise(hint: Text, face: Face, delivered?: HintContext): string {
  const { said, named } = compose(hint, face, delivered);
  return face.advise?.(said, named) ?? said;
}

/** The text, and the inputs that it names. */
function compose(text: Text, face: Face, delivered: HintContext = {}) {
  const { isFolder = false, isPrivate = false, isDelivered = true, chosen = [] } = delivered;
  const named = new Set<string>();
  const input: Words['input'] = (name, value) => {
    named.add(name);
    return face.input(name, value);
  };
  const words: Words = {
    leaveOut: (pattern) => `leave it out: add the line \`!${pattern}\``,
    fingerprint: (hash) => ` (fingerprint ${hash})`,
    person: (way) => way,
    ...face,
    grant(permissions) {
      const way = `set ${input('token')} to one with the permissions \`${permissions}\``;
      return `${face.grant?.(permissions) ?? way}${words.orUse('K3')}`;
    },
    orUse(channels, about = '') {
      const others = [channels].flat().filter((key) => isDelivered && !chosen.includes(key));
      return face.orUse?.(channels) ?? (others.length === 0 ? '' : `, or ${words.use(others)}${about}`);
    },
    use(channels) {
      // Releases of a private repository are not public.
      const [first = 'K3', ...others] = [channels].flat().filter((key) => key !== 'K2' || !isPrivate);
      const keys = [first, ...others];
      const bin = keys.includes('K3') && isDelivered ? PUBLIC_BIN : '';
      const way =
        face.use?.(joinWays(keys) + bin, keys) ??
        `use ${joinWays([input('channel', first), ...others])}${bin}`;
      const isPage = keys.includes('K1') || keys.includes('K4');
      return isFolder && !isPage ? `pack the folder into one file and ${way}` : way;
    },
    orSet(name, value, about) {
      const way = `set ${face.input(name, value)}${about}`;
      return face.withhold?.(name, way) ? '' : `, or ${way}`;
    },
    input,
    say: (inner) => (typeof inner === 'string' ? inner : inner(words)),
  };
  return { said: words.say(text), named: [...named] };
}

/** Such as `K1, K2 or K3`. */
const joinWays = (ways: readonly string[]): string =>
  [ways.slice(0, -1).join(', '), ...ways.slice(-1)].filter((part) => part !== '').join(' or ');
