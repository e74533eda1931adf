import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { ACTION, say } from '../words.ts';
import { INPUT_NAMES, INPUTS, type InputDefinition, type InputName, type RawInputs } from './inputs.ts';

/** Values that ask for nothing, so that nothing can be missed. */
const NO_WISH: readonly string[] = ['', 'off', 'auto'];

/** The inputs for some channels alone that ask for something: that are no default, and none that a runner fills in. */
export const listScopedInputs = (
  raw: RawInputs,
  given: readonly InputName[] = INPUT_NAMES,
): readonly InputName[] =>
  given.filter((name) => {
    const { channels, default: usual }: InputDefinition = INPUTS[name];
    const value = raw[name].trim().toLowerCase();
    if (channels === undefined || NO_WISH.includes(value)) return false;
    return value !== usual.toLowerCase() && !usual.startsWith('${{');
  });

interface ChosenDelivery {
  readonly channels: readonly ChannelKey[];
  /** Why these, as a clause. */
  readonly reason: string;
  /** Whether a folder is among what is delivered, or may be. */
  readonly hasFolder: boolean;
}

/**
 * Notes on the inputs that are for other deliveries than the one that was chosen. They are not refused: a workflow may
 * set the same inputs for files and folders, and for every channel.
 */
export const noteOtherInputs = (
  given: readonly InputName[],
  { channels, reason, hasFolder }: ChosenDelivery,
  face = ACTION,
): readonly string[] =>
  given.flatMap((name) => {
    const { channels: served = [], isForFolders }: InputDefinition = INPUTS[name];
    const start = say((w) => `${w.subject(name)} had no effect: it is for`, face);
    if (!served.some((key) => channels.includes(key))) {
      const titles = served.map((key) => `${key} (${CHANNELS[key].name})`).join(' and ');
      return [`${start} ${titles}, and ${channels.join('+')} was chosen, because ${reason}`];
    }
    return isForFolders && !hasFolder ? [`${start} a folder, and none was found`] : [];
  });
