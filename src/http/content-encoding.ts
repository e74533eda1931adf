import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse } from '../ports.ts';
import { discard } from './response.ts';

/** The encodings that every browser asks for, and how each is undone. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What a browser accepts. A cache may keep a copy of its own for it, beside the one of plain bytes. */
export const BROWSER_ENCODINGS = Object.keys(DECODERS).join(', ');

/** The encodings that a host declares, the last one applied last; none for plain bytes. */
export function readEncodings({ headers }: Pick<HttpResponse, 'headers'>): readonly string[] {
  const declared = [headers['content-encoding'] ?? []].flat().join(',').toLowerCase().split(',');
  return declared.map((one) => one.trim()).filter((one) => one !== '' && one !== 'identity');
}

/**
 * The body as a program reads it that asked for these bytes. A browser decodes what is declared as encoded, or
 * fails to.
 *
 * @param asBrowser whether encoded bytes were asked for
 * @throws {DeliveryError} `NOT_PROVEN` when the declared encoding was not asked for, or, while the body is read, when
 * it is not what the body has.
 */
export function decodeBody(response: HttpResponse, asBrowser: boolean): AsyncIterable<Buffer> {
  const encodings = readEncodings(response);
  const [encoding = ''] = encodings;
  if (encodings.length === 0) return response.body;
  const createDecoder = encodings.length === 1 && asBrowser ? DECODERS[encoding] : undefined;
  if (createDecoder !== undefined) return decode(response, createDecoder());
  discard(response);
  const problem = asBrowser ? ' that not every browser reads' : ', although plain bytes were asked for';
  throw encodingError(response, `answers with a Content-Encoding${problem}`);
}

async function* decode(response: HttpResponse, decoder: Transform): AsyncGenerator<Buffer> {
  let isInterrupted = false;
  response.body.once('error', () => {
    isInterrupted = true;
  });
  try {
    yield* pipeline(response.body, decoder, () => undefined) as AsyncIterable<Buffer>;
  } catch (thrown) {
    if (isInterrupted) throw thrown;
    throw encodingError(response, 'answers with a body that its Content-Encoding does not fit');
  }
}

const encodingError = ({ status }: HttpResponse, what: string): DeliveryError =>
  new DeliveryError('NOT_PROVEN', `the address ${what}`, {
    httpCode: status,
    hint: 'let the host serve the file without Content-Encoding, or use another channel',
  });
