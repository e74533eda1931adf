import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { INPUTS, type InputName, type RawInputs } from './inputs.ts';
import { type ChannelSelection, refuseInput } from './values.ts';

/** What an input is for. */
interface InputScope {
  readonly channels: readonly ChannelKey[];
  /** Whether it is for a folder alone. */
  readonly isForFolders?: boolean;
}

const K1: InputScope = { channels: ['K1'] };
const FOLDER: InputScope = { channels: ['K1'], isForFolders: true };

/**
 * The inputs that only some deliveries use. All others are for any channel: the file and its checks, the account
 * (`repository`, `token`, `client-id` and its hosts), what is allowed (`overwrite`, `allow-…`), and times.
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
};

/** Values that ask for nothing, so that nothing can be missed. */
const NO_WISH: readonly string[] = ['', 'off', 'auto'];

/**
 * The inputs of the table that ask for something: neither a switch that is off anyway, nor a check that is to be left
 * out.
 *
 * @param written the inputs that the user wrote; `undefined` where defaults can't be told from them: then those
 * with another value
 */
export function listScopedInputs(
  raw: RawInputs,
  written: readonly InputName[] | undefined,
): readonly InputName[] {
  return (Object.keys(INPUT_SCOPES) as InputName[]).filter((name) => {
    const value = raw[name].trim().toLowerCase();
    const usual = INPUTS[name].default;
    if (NO_WISH.includes(value) || (usual === 'false' && value === 'false')) return false;
    return written === undefined ? value !== usual.toLowerCase() : written.includes(name);
  });
}

const scopeOf = (name: InputName): InputScope => INPUT_SCOPES[name] ?? { channels: [] };

const serves = (name: InputName, channels: readonly ChannelKey[]): boolean =>
  scopeOf(name).channels.some((key) => channels.includes(key));

/**
 * Refuses inputs that have no effect on any of the channels that were asked for.
 *
 * @param given as `listScopedInputs` returns them
 * @throws {DeliveryError} `BAD_INPUT` with the channels that the input is for.
 */
export function refuseOtherChannels(given: readonly InputName[], selection: ChannelSelection): void {
  if (selection === 'auto') return;
  const name = given.find((one) => !serves(one, selection));
  if (name === undefined) return;
  const { channels } = scopeOf(name);
  const asked = selection.length === 1 ? `channel ${selection}` : `channels ${selection.join(' and ')}`;
  refuseInput(
    `input \`${name}\` has no effect on ${asked}: it is for ${channels.join(' and ')}`,
    `leave \`${name}:\` out, or use channel: ${channels.join(' or ')}`,
  );
}

/**
 * Refuses inputs that are for a folder where single files alone are named.
 *
 * @throws {DeliveryError} `BAD_INPUT` naming the first of them.
 */
export function refuseFolderInputs(given: readonly InputName[]): void {
  const name = given.find((one) => scopeOf(one).isForFolders);
  if (name === undefined) return;
  refuseInput(
    `input \`${name}\` has no effect on a single file: it is for a folder`,
    `leave \`${name}:\` out, or set \`file:\` to a folder`,
  );
}

/** Where a delivery goes. */
interface ChosenDelivery {
  readonly channels: readonly ChannelKey[];
  /** Why these, as a clause. */
  readonly reason: string;
  /** Whether a folder is among what is delivered, or may be. */
  readonly hasFolder: boolean;
}

/** Notes on the inputs that are for other deliveries than the one that was chosen. */
export function noteOtherInputs(
  given: readonly InputName[],
  { channels, reason, hasFolder }: ChosenDelivery,
): readonly string[] {
  return given.flatMap((name) => {
    const scope = scopeOf(name);
    if (!serves(name, channels)) {
      const titles = scope.channels.map((key) => `${key} (${CHANNELS[key].name})`).join(' and ');
      return [
        `input \`${name}\` had no effect: it is for ${titles}, and ${channels.join('+')} was chosen, because ${reason}`,
      ];
    }
    if (!scope.isForFolders || hasFolder) return [];
    return [`input \`${name}\` had no effect: it is for a folder, and none was found`];
  });
}
