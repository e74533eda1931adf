import '../support/one-realm.ts';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createHttpClient } from '../../src/http/client.ts';

afterEach(() => {
  jest.useRealTimers();
});

// In a file of its own: undici keeps the timer that it starts first, a fake or a real one.
test('a proxy that does not answer is NO_NETWORK in the time of a connection, whatever the request allows', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  const asked = Promise.withResolvers<Socket>();
  const proxy = createServer((socket) => socket.once('data', () => asked.resolve(socket)));
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = proxy.address() as AddressInfo;
  Object.assign(process.env, { https_proxy: `http://127.0.0.1:${port}`, no_proxy: '' });
  const url = new URL('https://files.example.com/');
  const failing = createHttpClient()({ method: 'POST', url, headersTimeout: 900_000 }).catch(
    (thrown) => thrown,
  );
  const closed = once(await asked.promise, 'close');
  await jest.advanceTimersByTimeAsync(17_000);
  const message = "files.example.com can't be reached: the proxy did not connect within 15 s";
  expect(await failing).toMatchObject({ code: 'NO_NETWORK', message, retryable: true });
  await closed;
  proxy.close();
});
