import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newlines, type TextWindow, textWindows, WINDOWS } from '../../../src/rules/secrets/text-windows.ts';

const SIZES = { size: 20, before: 3, after: 5 };

async function* inPieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

async function windowsOf(text: string, piece: number): Promise<TextWindow[]> {
  const windows: TextWindow[] = [];
  for await (const window of textWindows(inPieces(text, piece), SIZES)) windows.push(window);
  return windows;
}

const texts = fc.string({ unit: fc.constantFrom('a', 'ы', '\n', ' '), maxLength: 200 });
const pieces = fc.integer({ min: 1, max: 60 });

describe('windows over a text', () => {
  test('their shares are the text, each character once', async () => {
    await fc.assert(
      fc.asyncProperty(texts, pieces, async (text, piece) => {
        const shares = (await windowsOf(text, piece)).map((one) => one.text.slice(one.from, one.to));
        expect(shares.join('')).toBe(text);
      }),
    );
  });

  test('each shows enough around its share, or the end of the text, and is no larger than asked', async () => {
    await fc.assert(
      fc.asyncProperty(texts, pieces, async (text, piece) => {
        const windows = await windowsOf(text, piece);
        for (const [nth, one] of windows.entries()) {
          expect(one.text.length).toBeLessThanOrEqual(SIZES.size);
          expect(one.from).toBe(nth === 0 ? 0 : SIZES.before);
          expect(one.text.length - one.to).toBe(nth === windows.length - 1 ? 0 : SIZES.after);
        }
      }),
    );
  });

  test('each knows its line', async () => {
    await fc.assert(
      fc.asyncProperty(texts, pieces, async (text, piece) => {
        let start = 0;
        for (const one of await windowsOf(text, piece)) {
          expect(one.line).toBe(text.slice(0, start).split('\n').length);
          start += SIZES.size - SIZES.before - SIZES.after;
        }
      }),
    );
  });

  test('are 256 KiB with 8 KiB of overlap', () => {
    expect(WINDOWS.size).toBe(256 * 1_024);
    expect(WINDOWS.before + WINDOWS.after).toBe(8 * 1_024);
  });
});

test.each([
  ['', 0, 0],
  ['\n', 0, 0],
  ['\n', 1, 1],
  ['a\nb\n\nc', 3, 1],
  ['a\nb\n\nc', 9, 3],
])('in %j, before %i, %i lines end', (text, end, count) => {
  expect(newlines(text, end)).toBe(count);
});
