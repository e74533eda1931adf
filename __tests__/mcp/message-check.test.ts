import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMessageFilter, type MessageRefusal, refuseMessage } from '../../src/mcp/message-check.ts';

const toLine = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });

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
  ])('is left to the library: %s', (_, line) => {
    expect(refuseMessage(line)).toBeNull();
  });

  test.each<[string, string, MessageRefusal['id'], number]>([
    ['a text', 'hello', null, -32700],
    ['null', 'null', null, -32600],
    ['a batch', '[]', null, -32600],
    ['an object without anything', '{}', null, -32600],
    ['no id that can be repeated', toLine({ id: [1], method: 'ping' }), null, -32600],
    ['half an id', toLine({ id: 1.5, method: 'ping' }), 1.5, -32600],
    ['another version', toLine({ jsonrpc: '1.0', id: 1, method: 'ping' }), 1, -32600],
    ['two mistakes', toLine({ jsonrpc: '1.0', id: 1, method: 'ping', params: 1 }), 1, -32600],
    ['params that are a list', toLine({ id: 1, method: 'ping', params: [] }), 1, -32602],
  ])('is refused: %s', (_, line, id, code) => {
    expect(refuseMessage(line)).toEqual({ id, error: { code, message: expect.any(String) } });
  });
});

/** What comes out of the filter, and how many lines it refused. */
async function filter(chunks: readonly Buffer[], limit = 1_000): Promise<readonly [string, number]> {
  let refusals = 0;
  const messages = createMessageFilter(limit, () => {
    refusals += 1;
  });
  const passed: Buffer[] = [];
  messages.on('data', (part: Buffer) => passed.push(part));
  for (const chunk of chunks) messages.write(chunk);
  messages.end();
  await once(messages, 'end');
  return [Buffer.concat(passed).toString(), refusals];
}

test('lines pass unchanged, wherever they are cut, and broken ones are left out', async () => {
  const good = `${toLine({ id: 1, method: 'ping', params: { text: 'я' } })}\n`;
  const lines = fc.array(fc.constantFrom(good, 'broken\n', '\n'), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(lines, fc.array(fc.nat(300), { maxLength: 5 }), async (texts, cuts) => {
      const bytes = Buffer.from(texts.join(''));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
      const kept = texts.filter((text) => text !== 'broken\n');
      expect(await filter(chunks)).toEqual([kept.join(''), texts.length - kept.length]);
    }),
  );
});

test('a line that is too long is passed on before it ends', async () => {
  const part = Buffer.from('x'.repeat(600));
  expect(await filter([part])).toEqual(['', 0]);
  expect(await filter([part, part])).toEqual(['x'.repeat(1_200), 0]);
});
