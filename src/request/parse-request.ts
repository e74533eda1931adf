import type { JobRuntime } from '../channels/pages/deploy/job-runtime.ts';
import { type OwnCredential, withToken } from '../credentials.ts';
import type { Deliverer } from '../github/workflow-run.ts';
import { DAY, SECOND } from '../protocol/limits.ts';
import type { FileLimits } from '../rules/open-file.ts';
import { type FindFiles, findLiteralFiles } from './find-files.ts';
import { oneLine } from './input-kinds.ts';
import {
  type GivenContent,
  INPUT_NAMES,
  INPUTS,
  type InputDefinition,
  type InputName,
  type Operation,
  parseInputs,
  type RawInputs,
} from './inputs.ts';
import { type IsLeftOut, readExclusions } from './patterns.ts';
import { readAddress } from './withdrawn-address.ts';

/** What an interface knows about the files and the machine, besides the inputs. */
export interface FileContext extends FileLimits {
  /** Absolute folder that `file` is relative to. */
  readonly folder: string;
  /** Finds the files of the lines. Absent: each line is a literal path. */
  readonly findFiles?: FindFiles;
  /** The source of the file in a few words: the default essence of the commit message. */
  readonly fileSource: string;
  readonly commit?: string | undefined;
  /** Set if only this deliverer's own files may be replaced, such as for agents. */
  readonly soleDeliverer?: string | undefined;
  /** Absent outside of an action. */
  readonly runtime?: JobRuntime | null;
  /** The run's pull request, if it was open when the run began. */
  readonly openPull?: number | undefined;
  readonly secrets: readonly OwnCredential[];
  /** An agent's answer has one URL, and its server knows what it delivered. */
  readonly isAgent?: boolean;
  /** For agents: the folder of the site for a delivery without a path, ending in `/`. */
  readonly defaultFolder?: string | undefined;
  /** For agents: what this server delivered at the `url`. */
  readonly delivered?: { readonly size: number; readonly sha256: string } | undefined;
  /** Bytes to deliver instead of the input `content`, such as standard input. */
  readonly contentStream?: Exclude<GivenContent, string> | undefined;
  /** The inputs of this call. Absent: all. */
  readonly givenInputs?: readonly InputName[];
}

/** The same, with what is known about the run. */
export interface RunContext extends FileContext {
  readonly job: string;
  /** The run that delivers. Absent outside of a workflow. */
  readonly deliverer?: Deliverer | undefined;
  readonly now: number;
  /** A number in [0, 1) that can't be guessed. */
  readonly random: () => number;
  /** Whether the file comes from a private repository; `null` if not known. */
  readonly sourceIsPrivate: boolean | null;
  /** The repositories that the file may come from, as `owner/name`; `null` is an unknown one. */
  readonly sourceRepositories: readonly (string | null)[];
  /** Whether a person or an agent named a repository, a branch or a folder of it; never in a job. */
  readonly namesDestination?: boolean;
  /** Whether to make only the checks, without any request to a host. */
  readonly checkOnly?: boolean;
}

/** What to do, strict: every input as a value, every default filled in. Nothing is parsed again later. */
export type DeliveryRequest = Readonly<ReturnType<typeof parseRequest>>;

/** Parses each input by itself; `refuseBrokenRules` checks them together. @throws {DeliveryError} `BAD_INPUT`, `NOT_EXTERNAL` */
export function parseRequest(raw: RawInputs, context: RunContext) {
  const { now, random, fileSource, sourceRepositories, secrets, givenInputs, contentStream, ...rest } =
    context;
  const { channel, message, authUrl, pollInterval, ...inputs } = readAddress(parseInputs(raw));
  const { file, name, confine, timeout } = inputs;
  const content = contentStream ?? inputs.content;
  const find = content === undefined ? rest.findFiles : undefined;
  const isLeftOut: IsLeftOut = find ? readExclusions(file, rest.folder).isLeftOut : () => false;
  const repository = raw.repository.trim().toLowerCase();
  const isFromTarget =
    sourceRepositories.length > 0 &&
    sourceRepositories.every((source) => source?.toLowerCase() === repository);
  return {
    ...inputs,
    ...rest,
    /** As written, or the name of the content. Empty for a link that only a marker verifies. */
    file: content === undefined ? file : [...file, name ?? ''],
    findFiles: find ?? findLiteralFiles,
    isLeftOut,
    content,
    /** `auto`, or the main channel and its duplicates. Only K1 has a folder that confines a delivery. */
    channels: confine !== undefined && channel === 'auto' ? (['K1'] as const) : channel,
    ...chooseDeliverer(rest, confine),
    essence: message || oneLine(fileSource),
    ...nameDefaults(inputs, now, random),
    /** The commit of a new tag. Absent: the head of the default branch, because another repository may not have it. */
    commit: isFromTarget ? rest.commit : undefined,
    scopedInputs: listScopedInputs({ ...raw, ...(inputs.url === undefined && { url: '' }) }, givenInputs),
    ownSecrets: withToken(raw.token, secrets),
    /** Milliseconds between polls. If the timeout is shorter, one poll is made at its end. */
    interval: Math.min(pollInterval, timeout),
    serverUrl: authUrl,
    runtime: rest.runtime ?? null,
    dryRun: inputs.dryRun || rest.checkOnly === true,
    /** Whether the file certainly comes from the target repository, so both are private or both public. */
    isFromTarget,
  };
}

function nameDefaults(
  { tag, bin }: Pick<ReturnType<typeof parseInputs>, 'tag' | 'bin'>,
  now: number,
  random: RunContext['random'],
) {
  return {
    tag: tag ?? formatDayTag(now),
    tagIsDefault: tag === undefined,
    earlierTag: formatDayTag(now - DAY),
    bin: bin ?? createBinName(now, random),
    binIsNew: bin === undefined,
  };
}

function chooseDeliverer(
  { deliverer, job, soleDeliverer }: Pick<RunContext, 'deliverer' | 'job' | 'soleDeliverer'>,
  confine?: string,
) {
  const name =
    confine === undefined
      ? soleDeliverer
      : oneLine([deliverer?.name, confine, job].filter(Boolean).join(' '));
  return {
    soleDeliverer: name,
    deliverer: name === undefined ? deliverer : { ...deliverer, name, isRestricted: true },
  };
}

/** Values that need no note: they request nothing, or work on every channel. */
const NO_WISH: readonly string[] = ['', 'off', 'auto', 'inline'];

/** The inputs for certain channels with a value that somebody chose: not a default, and not filled in by the runner. */
const listScopedInputs = (raw: RawInputs, given: readonly InputName[] = INPUT_NAMES): readonly InputName[] =>
  given.filter((name) => {
    const { channels, default: text }: InputDefinition = INPUTS[name];
    const value = raw[name].trim().toLowerCase();
    if (channels === undefined || NO_WISH.includes(value)) return false;
    return value !== text.toLowerCase() && !text.startsWith('${{');
  });

/** The operation of a command, a tool or an `operation:`. A list takes what an audit takes; the others deliver. */
export function operationOf(task: string): Operation {
  const name = task.trim().toLowerCase();
  if (name === 'audit' || name === 'list') return 'audit';
  return name === 'withdraw' ? 'withdraw' : 'deliver';
}

/** A name with a random ending, because anyone who can guess a bin's name can delete it. @see protocol 4.4 */
function createBinName(now: number, random: RunContext['random']): string {
  const ending = Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `sv${Math.floor(now / SECOND)}-${ending}`;
}

const formatDayTag = (now: number): string =>
  `files-${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}`;
