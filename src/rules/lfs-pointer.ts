import { DeliveryError } from '../errors.ts';
import type { LocalFile } from './inspect.ts';

/** A longer one is not read by git-lfs. */
const LARGEST = 1_024;

const POINTER =
  /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\n(?:ext-\S+ \S+\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n?$/;

/**
 * Refuses a file that only names another one: what a checkout without Git LFS leaves in its place. Its bytes would be
 * proven, and a browser would show a broken picture.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 * @see https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
 */
export async function refuseLfsPointer(
  file: Pick<LocalFile, 'size' | 'head' | 'pieces'>,
  given: string,
): Promise<void> {
  if (file.size > LARGEST || !file.head.startsWith('version https://')) return;
  let text = '';
  for await (const piece of file.pieces()) text += piece.toString('latin1');
  if (!POINTER.test(text.replaceAll('\r\n', '\n'))) return;
  throw new DeliveryError('BAD_FILE', `the file ${given} is a Git LFS pointer, not the file itself`, {
    hint: 'run `git lfs pull` before (in a workflow, set `lfs: true` for actions/checkout)',
  });
}
