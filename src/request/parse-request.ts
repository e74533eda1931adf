import type { JobRuntime } from '../channels/pages/deploy/job-runtime.ts';
import { isCredential } from '../credentials.ts';
import type { Logger } from '../ports.ts';
import { DAY, SECOND } from '../protocol/limits.ts';
import { findSecretsInText } from '../rules/secrets/secrets.ts';
import { createSecretPattern } from '../secret-pattern.ts';
import { type FindFiles, findLiteralFiles } from './find-files.ts';
import { oneLine, refuseInput } from './input-kinds.ts';
import { refuseBrokenRules } from './input-rules.ts';
import { listScopedInputs } from './input-scope.ts';
import { type Content, INPUT_NAMES, INPUTS, type InputName, parseInputs, type RawInputs } from './inputs.ts';
import { type ChannelSelection, type Operation, parseFingerprints } from './values.ts';

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
  /** Further credentials of the job, beside the token. */
  readonly secrets: readonly string[];
  /** Folders that the file must be in; empty: any folder. */
  readonly allowedRoots: readonly string[];
  /** Whether an absolute path may name a file outside the allowed roots, or a symbolic link. */
  readonly allowsFullPaths: boolean;
  /** Whether only the checks are made, without any request to a host. */
  readonly checkOnly?: boolean;
  /** Bytes to deliver in place of the input `content`, such as standard input. */
  readonly contentStream?: Exclude<Content, string> | undefined;
  /** The inputs that this call was given; absent where a runner fills in the defaults of the others. */
  readonly given?: readonly InputName[] | undefined;
}

/** What to do, strict: every input checked, every default filled in. Nothing is parsed again later. */
export type DeliveryRequest = Readonly<ReturnType<typeof parseRequest>>;

/** Raw inputs as a strict request; no host is asked. @throws {DeliveryError} `BAD_INPUT`, `NOT_EXTERNAL` */
export function parseRequest(raw: RawInputs, context: RunContext) {
  const { now, random, origin, sources, secrets, given, contentStream, ...place } = context;
  const inputs = parseInputs(raw);
  const { file, name = '', channel, message, confine, tag, bin, authUrl, pollInterval, ...values } = inputs;
  const content = contentStream ?? inputs.content;
  const target = raw.repository.trim().toLowerCase();
  refuseBrokenRules({ ...inputs, content }, raw);
  return {
    ...values,
    ...place,
    /** As written, or the name of the content; empty for a link that is verified by its marker alone. */
    fileLines: content === undefined ? file : [name],
    findFiles: (content === undefined && place.findFiles) || findLiteralFiles,
    content,
    /** `auto`, or the main channel and its duplicates. A confined delivery has no folder to stay in elsewhere. */
    channels: (confine === undefined ? channel : ['K1']) as ChannelSelection,
    /** Where the delivery must stay; `undefined` where its path is the user's own choice. */
    confinement:
      confine === undefined ? undefined : { folder: confine, owner: oneLine(`${confine} ${place.job}`) },
    essence: message || oneLine(origin),
    tag: tag ?? formatDayTag(now),
    tagIsDefault: tag === undefined,
    /** The default tag of the day before. */
    earlierTag: formatDayTag(now - DAY),
    bin: bin ?? createBinName(now, random),
    binIsNew: bin === undefined,
    /** The inputs that were given, of those that only some deliveries use. */
    scopedInputs: listScopedInputs(raw, given),
    /** Strings that must not be in the file, whatever is allowed. */
    ownSecrets: [...new Set([raw.token, ...secrets])].filter(isCredential),
    /** Milliseconds between polls. A timeout may be shorter: then there is one poll at its end. */
    interval: Math.min(pollInterval, values.timeout),
    serverUrl: authUrl,
    runtime: place.runtime ?? null,
    /** Whether the file surely comes from the repository that is published in, so that both are private or public. */
    isFromTarget: sources.length > 0 && sources.every((source) => source?.toLowerCase() === target),
  };
}

/**
 * Refuses credentials of the job, and well-known secrets, in the inputs: whatever is given may become public or be
 * printed, in a commit, in an address, in the report or in the log.
 *
 * @param ownSecrets credentials of the job, beside the token; they are named as such
 * @throws {DeliveryError} `BAD_INPUT` with rule and fingerprint, never with the secret.
 * @see protocol 7 (prohibition 3)
 */
export async function refuseSecretInputs(
  raw: RawInputs,
  ownSecrets: readonly string[],
  logger: Pick<Logger, 'mask'>,
): Promise<void> {
  for (const secret of new Set([raw.token, ...ownSecrets].filter(isCredential))) {
    const { isIn } = createSecretPattern(secret);
    const leak = INPUT_NAMES.find((name) => name !== 'token' && isIn(raw[name]));
    const kind = secret === raw.token ? 'the token' : 'a credential of this environment';
    if (leak !== undefined) refuseInput((w) => `${w.subject(leak)} holds ${kind}`, `remove ${kind} from it`);
  }
  const allowed = new Set(parseFingerprints(raw['allow-secret'].toLowerCase()));
  for (const name of INPUT_NAMES.filter((one) => INPUTS[one].isSearched !== false)) {
    const all = await findSecretsInText(raw[name]);
    const findings = all.filter(({ fingerprint }) => !allowed.has(fingerprint));
    for (const { secret } of findings) logger.mask(secret);
    const [first] = findings;
    if (first === undefined) continue;
    refuseInput(
      (w) =>
        `${w.subject(name)} contains what looks like a secret: ${first.rule} (fingerprint ${first.fingerprint})`,
      (w) =>
        `remove it there and revoke it, or, if it is known to be harmless, set ${w.input('allow-secret', first.fingerprint)}`,
    );
  }
}

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
