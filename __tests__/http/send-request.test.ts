import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { sendRequest, type TextRequest } from '../../src/http/send-request.ts';
import type { Clock, Ports, SendHttp } from '../../src/ports.ts';
import { EXCHANGE, MEGABYTE } from '../../src/protocol/limits.ts';
import { FakeClock, FakeHttp, fakePorts, type Scripted } from '../support/ports.ts';

const UPLOAD: TextRequest = {
  method: 'POST',
  url: new URL('https://uploads.example.com/assets?name=a.html'),
  headers: { 'content-type': 'application/octet-stream' },
  length: 5,
  body: () => Readable.from([Buffer.from('bytes')]),
};

const uploadTo = (http: SendHttp, ports: Partial<Ports> = {}) =>
  sendRequest(UPLOAD, { http, signal: new AbortController().signal, clock: new FakeClock(), ...ports });

const uploadWith = (response: Scripted) => uploadTo(new FakeHttp(() => response).http);

test('sendRequest refuses a response that is longer than any JSON of the host', async () => {
  await expect(uploadWith({ status: 201, body: 'x'.repeat(EXCHANGE.apiBody + 1) })).rejects.toMatchObject({
    code: 'HOST_ERROR',
  });
});

test('sendRequest throws the reason of the signal when it aborts', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const http: SendHttp = async () => {
    stop.abort(reason);
    return { status: 201, headers: {}, body: new Readable().destroy(reason) };
  };
  await expect(uploadTo(http, { signal: stop.signal })).rejects.toBe(reason);
});

test('sendRequest gives up on an answer that arrives too slowly', async () => {
  const endless = new Readable({ read: () => undefined });
  const timeLimit = new AbortController();
  const http: SendHttp = async () => {
    setImmediate(() => timeLimit.abort());
    return { status: 201, headers: {}, body: endless };
  };
  const clock = { timeout: () => timeLimit.signal } as Partial<Clock> as Clock;
  await expect(uploadTo(http, { clock })).rejects.toMatchObject({
    code: 'CONNECTION',
    message: expect.stringContaining('it did not finish in time'),
    retryable: true,
  });
  expect(endless.destroyed).toBe(true);
});

test.each<[string, Partial<TextRequest>, number]>([
  ['a call', { length: undefined, body: undefined }, 120_000],
  ['an upload of 5 MB', { length: 5 * MEGABYTE }, 200_000],
  ['an upload that its host stores for long', { length: 5 * MEGABYTE, headersTimeout: 900_000 }, 1_100_000],
])('sendRequest ends %s in time, even if its host takes the bytes very slowly', async (...row) => {
  const [, request, time] = row;
  const timeLimit = new AbortController();
  const http: SendHttp = async ({ signal }) => {
    timeLimit.abort(Object.assign(new Error('late'), { name: 'TimeoutError' }));
    signal?.throwIfAborted();
    return { status: 200, headers: {}, body: Readable.from([]) };
  };
  const limits: number[] = [];
  const clock = { timeout: (ms: number) => limits.push(ms) && timeLimit.signal } as Partial<Clock> as Clock;
  await expect(sendRequest({ ...UPLOAD, ...request }, { ...fakePorts(http), clock })).rejects.toMatchObject({
    code: 'CONNECTION',
    message: expect.stringContaining('it did not finish in time'),
  });
  expect(limits).toEqual([time]);
});
