import { createCipheriv } from 'node:crypto';
import { open } from 'node:fs/promises';
import { MEGABYTE } from '../src/protocol/limits.ts';

export const KILOBYTE = 1_024;

/** The content of a file: incompressible bytes, or the text of a log. */
export type FileContent = 'bytes' | 'text';

/** Writes a file of exactly so many bytes, the same ones in every run. */
export async function writeSampleFile(path: string, size: number, content: FileContent): Promise<void> {
  const file = await open(path, 'w');
  try {
    const more = content === 'bytes' ? createCipherBytes() : createLogLines();
    for (let left = size; left > 0; ) {
      const piece = more().subarray(0, left);
      await file.write(piece);
      left -= piece.length;
    }
  } finally {
    await file.close();
  }
}

/** The key stream of a cipher: like random bytes, and faster. */
function createCipherBytes(): () => Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
  const zeros = Buffer.alloc(MEGABYTE);
  return () => cipher.update(zeros);
}

function createLogLines(): () => Buffer {
  let line = 0;
  return () => {
    let text = '';
    for (const end = line + 10_000; line < end; line += 1) {
      const level = line % 50 === 0 ? 'warn' : 'info';
      text += `2026-01-02T03:04:05.${line % 1_000}Z ${level} worker-${line % 16}: GET https://shop.acme.io/items/${line}?page=${line % 7} answered 200 in ${line % 977} ms\n`;
    }
    return Buffer.from(text);
  };
}
