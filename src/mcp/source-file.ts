import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MCP, MEGABYTE } from '../protocol/limits.ts';
import { refuseInput } from '../request/values.ts';
import { createTemporaryFolder } from '../temporary-folder.ts';
import type { ToolArguments } from './arguments.ts';

/** Where the file of a call lies. */
export interface SourceFile {
  /** The lines of `file`; empty where there is none. */
  readonly file: string;
  /** Absolute; the lines are relative to it. */
  readonly folder: string;
  /** Folders that the file must be in. */
  readonly roots: readonly string[];
  /** Removes what was written for this call. */
  remove(): Promise<void>;
}

/**
 * The file below the allowed roots, or the content in a private folder of its own.
 *
 * @param roots absolute; the first one is what `file` is relative to
 * @throws {DeliveryError} `BAD_INPUT` with the argument to change.
 */
export async function openSourceFile(
  { file = '', content, name }: ToolArguments,
  roots: readonly [string, ...string[]],
): Promise<SourceFile> {
  if (content === undefined) {
    if (name !== undefined)
      refuseInput('`name` is the name of a `content`', 'set `content:` as well, or `file:` alone');
    return { file: String(file), folder: roots[0], roots, remove: async () => undefined };
  }
  if (file !== '') refuseInput('there are both a `file` and a `content`', 'set one of them');
  const text = String(content);
  if (Buffer.byteLength(text) > MCP.content) {
    refuseInput(
      `\`content\` has more than ${MCP.content / MEGABYTE} MB`,
      'write it to a file and set `file:`',
    );
  }
  const fileName = parseFileName(String(name ?? ''));
  // Only this user may read it.
  const folder = await createTemporaryFolder(tmpdir());
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(join(folder, fileName), text, { mode: 0o600 });
  } catch (cause) {
    await remove();
    return refuseInput(`no file can have the \`name\` ${fileName}: ${describeCode(cause)}`, NAME_HINT);
  }
  return { file: fileName, folder, roots: [folder], remove };
}

const NAME_HINT = 'set `name:` to a file name such as `report.html`, without a folder';

/** One file name, that no system takes for a path. */
function parseFileName(name: string): string {
  if (name === '') refuseInput('`content` needs a `name`', NAME_HINT);
  const isOdd = name !== name.trim() || /[\\/:\p{Cc}]/u.test(name) || /^\.+$/.test(name);
  return isOdd || Buffer.byteLength(name) > 255 ? refuseInput('`name` is not a file name', NAME_HINT) : name;
}

const describeCode = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : 'it is refused';
