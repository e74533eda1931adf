import { decodePercents } from './page/addresses.ts';

/** How a picture begins, and what a whole one holds, in Latin-1. Other kinds are not judged. */
const PICTURES: readonly (readonly [start: string, end: string])[] = [
  ['\x89PNG', 'IEND'],
  ['\xff\xd8', '\xff\xd9'],
];

const findEnd = (start: string): string | undefined =>
  PICTURES.find(([known]) => start.startsWith(known))?.[1];

/** Whether a picture has no end. */
export async function isCutPicture(pieces: AsyncIterable<Buffer>): Promise<boolean> {
  let end: string | undefined;
  let rest = '';
  for await (const piece of pieces) {
    const text = rest + piece.toString('latin1');
    end ??= findEnd(text);
    // Bytes may follow the end marker, such as the video of a motion photo.
    if (end === undefined || text.includes(end)) return false;
    rest = text.slice(-8);
  }
  return end !== undefined;
}

/** Whether a `data:` URL holds a picture without an end. */
export function isCutPictureUrl(address: string): boolean {
  const [, base64 = ''] = /^\s*data:image\/[^,]{1,100};base64,(.*)$/is.exec(address) ?? [];
  const text = Buffer.from(decodePercents(base64), 'base64').toString('latin1');
  const end = findEnd(text);
  return end !== undefined && !text.includes(end);
}
