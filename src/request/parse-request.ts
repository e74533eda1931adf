import type { JobRuntime } from '../channels/pages/deploy/job-runtime.ts';
import { type OwnCredential, withToken } from '../credentials.ts';
import type { Deliverer } from '../github/workflow-run.ts';
import { DAY, SECOND } from '../protocol/limits.ts';
import { type FindFiles, findLiteralFiles } from './find-files.ts';
import { oneLine } from './input-kinds.ts';
import {
  type GivenContent,
  INPUT_NAMES,
  INPUTS,
  type InputDefinition,
  type InputName,
  parseInputs,
  type RawInputs,
} from './inputs.ts';
import { type IsLeftOut, readExclusions } from './patterns.ts';
import type { Operation } from './values.ts';
import { readAddress } from './withdrawn-address.ts';

/** What an interface knows about the run and the machine, beside the inputs. */
export interface RunContext {
  /** Absolute folder that `file` is relative to. */
  readonly folder: string;
  /** How the lines of `file` are read: letter by letter, unless the interface knows patterns. */
  readonly findFiles?: FindFiles;
  /** Where the file came from, in a few words: the default essence of the commit message. */
  readonly origin: string;
  /** The workflow and job that delivers; empty outside of one. */
  readonly job: string;
  /** The commit that the run is about; absent outside of a workflow. */
  readonly commit?: string | undefined;
  /** For whom alone everything is delivered, such as agents. */
  readonly owner?: string | undefined;
  /** The run that delivers; absent outside of a workflow. */
  readonly from?: Deliverer | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A number in [0, 1) that can't be guessed. */
  readonly random: () => number;
  /** Whether the file comes from a private repository; `null` if not known. */
  readonly sourceIsPrivate: boolean | null;
  /** The repositories that the file may come from, as `owner/name`; `null` is an unknown one. */
  readonly sources: readonly (string | null)[];
  /** What the runner gives to deploy a site; absent outside of an action. */
  readonly runtime?: JobRuntime | null;
  /** Whether a person or an agent named a repository, a branch or a folder of it; never in a job. */
  readonly namesPlace?: boolean;
  /** Further credentials of the job, beside the token. */
  readonly secrets: readonly OwnCredential[];
  /** Folders that the file must be in; empty: any folder. */
  readonly allowedRoots: readonly string[];
  /** Whether an absolute path may name a file outside the allowed roots, or a symbolic link. */
  readonly allowsFullPaths: boolean;
  /** Whether hidden files are never opened. */
  readonly refusesHidden?: boolean | undefined;
  /** The folder of the site for what names no path, ending in `/`. */
  readonly defaultFolder?: string | undefined;
  /** Whether only the checks are made, without any request to a host. */
  readonly checkOnly?: boolean;
  /** Bytes to deliver in place of the input `content`, such as standard input. */
  readonly contentStream?: Exclude<GivenContent, string> | undefined;
  /** The inputs that belong to this call; absent where all do. */
  readonly given?: readonly InputName[];
}

/** What to do, strict: every input as a value, every default filled in. Nothing is parsed again later. */
export type DeliveryRequest = Readonly<ReturnType<typeof parseRequest>>;

/** Each input by itself; `refuseBrokenRules` checks them together. @throws {DeliveryError} `BAD_INPUT`, `NOT_EXTERNAL` */
export function parseRequest(raw: RawInputs, context: RunContext) {
  const { now, random, origin, sources, secrets, given, contentStream, ...place } = context;
  const { channel, message, authUrl, pollInterval, ...inputs } = readAddress(parseInputs(raw));
  const { file, name, confine, timeout } = inputs;
  const content = contentStream ?? inputs.content;
  const find = content === undefined ? place.findFiles : undefined;
  const isLeftOut: IsLeftOut = find ? readExclusions(file, place.folder).isLeftOut : () => false;
  const target = raw.repository.trim().toLowerCase();
  const isFromTarget = sources.length > 0 && sources.every((source) => source?.toLowerCase() === target);
  return {
    ...inputs,
    ...place,
    /** As written, or the name of the content; empty for a link that is verified by its marker alone. */
    fileLines: content === undefined ? file : [name ?? ''],
    findFiles: find ?? findLiteralFiles,
    /** Whether a file, also one in a folder, is left out by the lines. */
    isLeftOut,
    content,
    /** `auto`, or the main channel and its duplicates. A confined delivery has no folder to stay in elsewhere. */
    channels: confine !== undefined && channel === 'auto' ? (['K1'] as const) : channel,
    ...chooseDeliverer(place, confine),
    essence: message || oneLine(origin),
    ...nameDefaults(inputs, now, random),
    /** Where a new tag is made; absent for the head of the default branch. Another repository may not have it. */
    commit: isFromTarget ? place.commit : undefined,
    scopedInputs: listScopedInputs({ ...raw, ...(inputs.url === undefined && { url: '' }) }, given),
    /** Strings that must not be in the file, whatever is allowed. */
    ownSecrets: withToken(raw.token, secrets),
    /** Milliseconds between polls. A timeout may be shorter: then there is one poll at its end. */
    interval: Math.min(pollInterval, timeout),
    serverUrl: authUrl,
    runtime: place.runtime ?? null,
    /** A check is a dry run without any host. */
    dryRun: inputs.dryRun || place.checkOnly === true,
    /** Whether the file surely comes from the repository that is published in, so that both are private or public. */
    isFromTarget,
  };
}

/** The release and the bin, by their default names where none is given. */
function nameDefaults(
  { tag, bin }: Pick<ReturnType<typeof parseInputs>, 'tag' | 'bin'>,
  now: number,
  random: RunContext['random'],
) {
  return {
    tag: tag ?? formatDayTag(now),
    tagIsDefault: tag === undefined,
    /** The default tag of the day before. */
    earlierTag: formatDayTag(now - DAY),
    bin: bin ?? createBinName(now, random),
    binIsNew: bin === undefined,
  };
}

/** `owner`: for whom alone it delivers; `undefined` for who may replace whatever this tool delivered. */
function chooseDeliverer({ from, job, owner }: Pick<RunContext, 'from' | 'job' | 'owner'>, confine?: string) {
  const name = confine === undefined ? owner : oneLine([from?.name, confine, job].filter(Boolean).join(' '));
  return { owner: name, from: name === undefined ? from : { ...from, name, isAlone: true } };
}

/** Values that ask for nothing, so that nothing can be missed. */
const NO_WISH: readonly string[] = ['', 'off', 'auto'];

/** The inputs for some channels alone that ask for something: that are no default, and none that a runner fills in. */
const listScopedInputs = (raw: RawInputs, given: readonly InputName[] = INPUT_NAMES): readonly InputName[] =>
  given.filter((name) => {
    const { channels, default: usual }: InputDefinition = INPUTS[name];
    const value = raw[name].trim().toLowerCase();
    if (channels === undefined || NO_WISH.includes(value)) return false;
    return value !== usual.toLowerCase() && !usual.startsWith('${{');
  });

/** What a command, a tool or a value of `operation` does; a check and the proof of a link do what a delivery does. */
export const operationOf = (task: string): Operation =>
  (['withdraw', 'audit'] as const).find((one) => one === task.trim().toLowerCase()) ?? 'deliver';

/** A name with a random ending: anyone who can guess a bin's name can delete it. @see protocol 4.4 */
function createBinName(now: number, random: RunContext['random']): string {
  const ending = Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `sv${Math.floor(now / SECOND)}-${ending}`;
}

const formatDayTag = (now: number): string =>
  `files-${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}`;
