import { DeliveryError } from '../errors.ts';
import { CONTENT } from '../protocol/limits.ts';
import { nameFromFile } from '../rules/naming.ts';
import type { RawInputs } from './inputs.ts';
import { oneLine, refuseInput } from './values.ts';

/** A text, or a stream of bytes, that is delivered instead of a file. */
export interface GivenContent {
  /** The file name that it gets. */
  readonly name: string;
  readonly bytes: string | AsyncIterable<Uint8Array>;
}

/**
 * The content that is given instead of a file.
 *
 * @param stream what the interface reads in place of the input `content`, such as standard input
 * @throws {DeliveryError} `BAD_INPUT` where content and name do not belong together.
 */
export function parseContent(
  { content, name, file }: Pick<RawInputs, 'content' | 'name' | 'file'>,
  stream: AsyncIterable<Uint8Array> | undefined,
): GivenContent | undefined {
  const bytes = stream ?? (content.trim() === '' ? undefined : content);
  if (bytes === undefined) {
    if (content === '' && name.trim() === '') return undefined;
    const rest =
      file.trim() === '' ? 'or `file:` to a file' : 'or leave `name:` out: a file has its own name';
    return refuseInput(
      'input `content` is empty, so `name` names nothing',
      `set \`content:\` to the text, ${rest}`,
    );
  }
  if (file.trim() !== '') {
    refuseInput('inputs `file` and `content` are both given', 'leave `file:` or `content:` out');
  }
  return { name: parseName(name), bytes };
}

function parseName(text: string): string {
  if (text.trim() === '') {
    refuseInput('input `content` has no file name', 'set `name:` to the name to give it, such as page.html');
  }
  const isBroken = /[/\\]/.test(text) || Buffer.byteLength(text) > CONTENT.name;
  try {
    if (!isBroken) return nameFromFile(text);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
  }
  return refuseInput(
    `input \`name\` is not a file name: ${oneLine(text)}`,
    'set `name:` to letters, digits, -, _ and ., such as page.html; folders belong into `path:`',
  );
}
