import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMessageReader, type MessageRefusal } from '../../src/mcp/message-reader.ts';

const toLine = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });

/** What the reader passes on, and what it refuses. */
async function read(
  chunks: readonly (Buffer | string)[],
  limit = 1_000,
): Promise<{ readonly passed: string; readonly refused: readonly MessageRefusal[] }> {
  const refused: MessageRefusal[] = [];
  const messages = createMessageReader(limit, (one) => refused.push(one));
  const passed: Buffer[] = [];
  messages.on('data', (part: Buffer) => passed.push(part));
  for (const chunk of chunks) messages.write(chunk);
  messages.end();
  await once(messages, 'end');
  return { passed: Buffer.concat(passed).toString(), refused };
}

describe('a line', () => {
  test.each([
    ['a request', toLine({ id: 1, method: 'ping' })],
    ['a request with params', toLine({ id: 'a', method: 'tools/call', params: { name: 'x' } })],
    ['a notification', toLine({ method: 'notifications/initialized' })],
    ['a notification with a list', toLine({ method: 'notifications/initialized', params: [] })],
    ['an answer', toLine({ id: 1, result: {} })],
    ['an error', toLine({ id: 1, error: { code: 1, message: 'x' } })],
    ['a broken answer', toLine({ id: 1, result: 1 })],
    ['nothing', ' \r'],
  ])('is left to the library: %s', async (_, line) => {
    expect(await read([`${line}\n`])).toEqual({ passed: `${line}\n`, refused: [] });
  });

  test.each<[string, string, MessageRefusal['id'], number]>([
    ['a text', 'hello', null, -32700],
    ['null', 'null', null, -32600],
    ['a batch', '[]', null, -32600],
    ['an object without anything', '{}', null, -32600],
    ['no id that can be repeated', toLine({ id: [1], method: 'ping' }), null, -32600],
    ['half an id', toLine({ id: 1.5, method: 'ping' }), 1.5, -32600],
    ['another version', toLine({ jsonrpc: '1.0', id: 1, method: 'ping' }), 1, -32600],
    ['params that are a list', toLine({ id: 1, method: 'ping', params: [] }), 1, -32600],
  ])('is refused: %s', async (_, line, id, code) => {
    const refused = [{ id, error: { code, message: expect.any(String) } }];
    expect(await read([`${line}\n`])).toEqual({ passed: '', refused });
  });
});

test('lines pass unchanged, wherever they are cut, and broken or long ones are left out', async () => {
  const good = `${toLine({ id: 1, method: 'ping', params: { text: 'я' } })}\n`;
  const long = `${'x'.repeat(1_000)}\n`;
  const lines = fc.array(fc.constantFrom(good, 'broken\n', '\n', long), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(lines, fc.array(fc.nat(2_000), { maxLength: 5 }), async (texts, cuts) => {
      const bytes = Buffer.from(texts.join(''));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
      const kept = texts.filter((text) => text === good || text === '\n');
      const { passed, refused } = await read(chunks);
      expect([passed, refused.length]).toEqual([kept.join(''), texts.length - kept.length]);
    }),
  );
});

describe('a message that is too long', () => {
  const content = 'x'.repeat(700);
  const params = { name: 'deliver', arguments: { content, id: 8 } };

  test.each<[string, string, MessageRefusal['id']]>([
    ['an id before everything else', toLine({ id: 7, method: 'tools/call', params }), 7],
    ['a text as its id', toLine({ id: 'a-7', method: 'tools/call', params }), 'a-7'],
    ['an id at its end', JSON.stringify({ method: 'tools/call', params, jsonrpc: '2.0', id: 7 }), 7],
    ['only an id that is not its own', toLine({ method: 'tools/call', params }), null],
    ['an id in a text', content + JSON.stringify('{"id":7}'), null],
  ])('is refused, and the next one read: %s', async (_, line, id) => {
    const next = `${toLine({ id: 9, method: 'ping' })}\n`;
    const refused = [
      { id, error: { code: -32600, message: expect.stringContaining('longer than 600 bytes') } },
    ];
    expect(await read([line.slice(0, 650), line.slice(650), `\n${next}`], 600)).toEqual({
      passed: next,
      refused,
    });
  });
});
