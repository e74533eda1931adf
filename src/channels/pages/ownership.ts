import { DeliveryError } from '../../errors.ts';
import { OBJECT_TRAILER, TRAILER } from '../../protocol/words.ts';
import { baseName } from '../../rules/naming.ts';

/** What a commit does to one path. */
export interface DeliveryCommit {
  readonly path: string;
  /** Git's id of the file's bytes; `null` where the path is removed. */
  readonly blobSha: string | null;
  /** Whether a file exists at the path. */
  readonly replaces: boolean;
  /** What the user said about the delivery, in one line. */
  readonly essence: string;
}

/**
 * The message of a commit: `ADD/UPDATE <name>: <essence>`, then trailers that name what it delivered.
 *
 * @see protocol 1 (repository etiquette), design 4
 */
export function formatCommitMessage({ path, blobSha, replaces, essence }: DeliveryCommit): string {
  const verb = blobSha === null ? 'REMOVE' : replaces ? 'UPDATE' : 'ADD';
  const subject = `${verb} ${baseName(path)}: ${essence}`;
  return `${subject}\n\n${blobSha === null ? TRAILER : formatTrailers(blobSha, path)}`;
}

const formatTrailers = (blobSha: string, path: string): string =>
  `${TRAILER}\n${OBJECT_TRAILER}: ${blobSha} ${path}`;

/**
 * Whether this tool delivered what a path holds, and nobody changed it since. The message must have exactly the
 * form of `formatCommitMessage`, and name this path and these bytes: a squashed, quoted or amended message
 * proves nothing.
 *
 * @param message of the last commit that touched the path
 * @param blobSha git's id of what the path holds now
 * @see design 4, protocol 7 (prohibition 4)
 */
export function isOwnedFile(message: string, blobSha: string, path: string): boolean {
  const [subject = '', ...rest] = message.trimEnd().split('\n');
  const [, verb = '', essence = ''] = /^(ADD|UPDATE) (.*)$/.exec(subject) ?? [];
  const prefix = `${baseName(path)}: `;
  return (
    verb !== '' &&
    essence.startsWith(prefix) &&
    essence.length > prefix.length &&
    rest.join('\n') === `\n${formatTrailers(blobSha, path)}`
  );
}

/** @see protocol 7 (prohibition 4) */
export function notOwnedError(path: string, isRemoval: boolean): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path} already exists in the repository, and this action did not deliver what it holds now`,
    {
      hint: `set \`path:\` to another place, or \`overwrite: true\` if you may ${isRemoval ? 'remove' : 'replace'} that file`,
    },
  );
}
