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
    return refuseInput(
      (w) => `${w.subject('content')} is empty, so ${w.subject('name')} names nothing`,
      'give a text, or deliver a file, which has its own name',
    );
  }
  if (file.trim() !== '') {
    refuseInput('a file and a content are both given', 'leave one of them out');
  }
  return { name: parseName(name), bytes };
}

function parseName(text: string): string {
  if (text.trim() === '') {
    refuseInput(
      (w) => `${w.subject('content')} has no file name`,
      (w) => `give it one with ${w.input('name')}, such as page.html`,
    );
  }
  const isBroken = /[/\\]/.test(text) || Buffer.byteLength(text) > CONTENT.name;
  try {
    if (!isBroken) return nameFromFile(text);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
  }
  return refuseInput(
    (w) => `${w.subject('name')} is not a file name: ${oneLine(text)}`,
    (w) => `set ${w.input('name')} to letters, digits, -, _ and ., such as page.html; it has no folder`,
  );
}
