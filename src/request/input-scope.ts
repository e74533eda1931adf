import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { ACTION, say } from '../words.ts';
import { INPUTS, type InputName, type RawInputs } from './inputs.ts';

/** What an input is for. */
interface InputScope {
  readonly channels: readonly ChannelKey[];
  /** Whether it is for a folder alone. */
  readonly isForFolders?: boolean;
  /** Whether it names the account, which may also decide on the channel. */
  readonly isAccount?: boolean;
}

const K1: InputScope = { channels: ['K1'] };
const FOLDER: InputScope = { channels: ['K1'], isForFolders: true };
const ACCOUNT: InputScope = { channels: ['K1', 'K2'], isAccount: true };

/**
 * The inputs that only some deliveries use. All others are for any channel: the file and its checks, hosts of GitHub,
 * what is allowed (`overwrite`, `allow-…`), and times.
 */
export const INPUT_SCOPES: Readonly<Partial<Record<InputName, InputScope>>> = {
  entry: FOLDER,
  prune: FOLDER,
  keep: FOLDER,
  nojekyll: FOLDER,
  setup: K1,
  branch: K1,
  'site-workflow': K1,
  message: K1,
  'self-contained': K1,
  screen: K1,
  picture: K1,
  'pages-base': K1,
  'raw-base': K1,
  tag: { channels: ['K2'] },
  bin: { channels: ['K3'] },
  // A link may be one of that host.
  'bin-host-url': { channels: ['K3', 'K4'] },
  url: { channels: ['K4'] },
  repository: ACCOUNT,
  token: ACCOUNT,
  'client-id': ACCOUNT,
};

/** Values that ask for nothing, so that nothing can be missed. */
const NO_WISH: readonly string[] = ['', 'off', 'auto'];

/**
 * The inputs of the table that ask for something: neither a switch that is off anyway, nor a check that is to be left
 * out.
 *
 * @param written the inputs that the user wrote; `undefined` where defaults can't be told from them: then those
 * with another value, but for defaults that a runner evaluates
 */
export function listScopedInputs(
  raw: RawInputs,
  written: readonly InputName[] | undefined,
): readonly InputName[] {
  return (Object.keys(INPUT_SCOPES) as InputName[]).filter((name) => {
    const value = raw[name].trim().toLowerCase();
    const usual = INPUTS[name].default;
    if (NO_WISH.includes(value) || (usual === 'false' && value === 'false')) return false;
    if (written !== undefined) return written.includes(name);
    return value !== usual.toLowerCase() && !usual.startsWith('${{');
  });
}

const scopeOf = (name: InputName): InputScope => INPUT_SCOPES[name] ?? { channels: [] };

const serves = (name: InputName, channels: readonly ChannelKey[]): boolean =>
  scopeOf(name).channels.some((key) => channels.includes(key));

/** Where a delivery goes. */
interface ChosenDelivery {
  readonly channels: readonly ChannelKey[];
  /** Why these, as a clause. */
  readonly reason: string;
  /** Whether a folder is among what is delivered, or may be. */
  readonly hasFolder: boolean;
  /** Whether the channels were chosen by what the account may do. */
  readonly isByAccount: boolean;
}

/**
 * Notes on the inputs that are for other deliveries than the one that was chosen. They are not refused: a workflow may
 * set the same inputs for files and folders, and for every channel.
 *
 * @param given as `listScopedInputs` returns them
 */
export function noteOtherInputs(
  given: readonly InputName[],
  { channels, reason, hasFolder, isByAccount }: ChosenDelivery,
  face = ACTION,
): readonly string[] {
  return given.flatMap((name) => {
    const scope = scopeOf(name);
    if (scope.isAccount && isByAccount) return [];
    const start = say((w) => `${w.subject(name)} had no effect: it is for`, face);
    if (!serves(name, channels)) {
      const titles = scope.channels.map((key) => `${key} (${CHANNELS[key].name})`).join(' and ');
      return [`${start} ${titles}, and ${channels.join('+')} was chosen, because ${reason}`];
    }
    if (!scope.isForFolders || hasFolder) return [];
    return [`${start} a folder, and none was found`];
  });
}
