import { pipeline, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse } from '../ports.ts';
import { discard } from './response.ts';

/** The encodings that Chrome asks for, and how each is undone. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  // 8 MB, more than which no browser keeps either. @see RFC 9659
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** What a browser accepts. A cache may keep a copy of its own for it, beside the one of plain bytes. */
export const BROWSER_ENCODINGS = Object.keys(DECODERS).join(', ');

/** The encodings that a host declares, the last one applied last; none for plain bytes. */
export function readEncodings({ headers }: Pick<HttpResponse, 'headers'>): readonly string[] {
  const declared = [headers['content-encoding'] ?? []].flat().join(',').toLowerCase().split(',');
  return declared.map((one) => one.trim()).filter((one) => one !== '' && one !== 'identity');
}

/** The body of a short response as text. @throws {DeliveryError} like `readBody` */
export const readText = async (response: HttpResponse, limit: number): Promise<string> =>
  (await readBody(response, limit)).toString('utf8');

/**
 * Reads the whole body of a short response.
 *
 * @param limit largest number of decoded bytes that is accepted; a longer body is not read further
 * @throws {DeliveryError} `HOST_ERROR` when the body is longer, and like `decodeBody`.
 */
export async function readBody(response: HttpResponse, limit: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decodeBody(response)) {
    size += chunk.length;
    if (size > limit) {
      throw new DeliveryError('HOST_ERROR', `the response is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The body of any response, without its encoding. A browser decodes what is declared as encoded, or fails to.
 *
 * @param mayBeEncoded whether encoded bytes are right: not where plain ones were asked for and are to be proven
 * @throws {DeliveryError} `HOST_ERROR` when the declared encoding was not asked for, or, while the body is read, when
 * it is not what the body has.
 */
export function decodeBody(response: HttpResponse, mayBeEncoded = true): AsyncIterable<Buffer> {
  const encodings = readEncodings(response);
  const [encoding = ''] = encodings;
  if (encodings.length === 0) return response.body;
  const createDecoder = encodings.length === 1 && mayBeEncoded ? DECODERS[encoding] : undefined;
  if (createDecoder !== undefined) return decode(response, createDecoder());
  discard(response);
  throw encodingError(response, 'a Content-Encoding that was not asked for');
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
    throw encodingError(response, 'a body that its Content-Encoding does not fit');
  }
}

const encodingError = ({ status }: HttpResponse, what: string): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the host answers with ${what}`, {
    httpCode: status,
    hint: 'let the host answer without Content-Encoding, or use another channel',
  });
