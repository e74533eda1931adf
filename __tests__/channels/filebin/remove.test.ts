import { describe, expect, test } from '@jest/globals';
import type { FilebinOptions } from '../../../src/channels/filebin/publish.ts';
import { createFilebinRemover } from '../../../src/channels/filebin/remove.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../../support/ports.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';

const HOST = 'https://filebin.net';
const OPTIONS: FilebinOptions = { binHostUrl: new URL(HOST), bin: 'sv1767323045-abc', binIsNew: false };
const PAGE: Scripted = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>' };

type Answer = (request: Seen, nth: number) => Scripted | Error;

function createRemover(answer: Answer) {
  const host = new FakeHttp(answer);
  const ports = fakePorts(host.http);
  return { host, ports, remover: createFilebinRemover(OPTIONS, ports) };
}

/** Prepares the removal of page.html from a bin host that answers as scripted. */
async function prepareRemoval(answer: Scripted | Error | Answer, name = 'page.html') {
  const decide: Answer = typeof answer === 'function' ? answer : () => answer;
  const { host, ports, remover } = createRemover(decide);
  return { host, ports, task: await prepareOne(remover, null, name) };
}

describe('removing a file through channel K3', () => {
  test('plans one DELETE of the name that the host stores, without sending it', async () => {
    const { host, task } = await prepareRemoval({ status: 500 }, "deep/a'b.pdf");
    expect(task.plan).toEqual({
      channel: 'K3',
      method: 'one DELETE',
      destination: `bin ${OPTIONS.bin}, name deep-a_b.pdf`,
      name: 'deep-a_b.pdf',
      claim: 'is removed',
    });
    expect(task.watch).toBeUndefined();
    expect(host.seen).toEqual([]);
  });

  test('sends one DELETE without a credential', async () => {
    const { host, task } = await prepareRemoval({ status: 200, body: 'File deleted successfully' });
    await expect(task.perform()).resolves.toEqual({
      evidence: `bin ${OPTIONS.bin}, file page.html is deleted`,
      url: new URL(`${HOST}/${OPTIONS.bin}/page.html`),
      written: true,
      bypassCache: false,
      hostMayChangeBytes: false,
      mustBeExternal: false,
      notes: [],
      unknown: [],
    });
    expect(host.seen).toEqual([
      {
        method: 'DELETE',
        url: `${HOST}/${OPTIONS.bin}/page.html`,
        headers: { accept: 'application/json' },
        body: '',
      },
    ]);
  });

  test('succeeds for HTTP 204', async () => {
    const { task } = await prepareRemoval({ status: 204 });
    await expect(task.perform()).resolves.toMatchObject({ written: true });
  });

  test('finds that nothing exists for HTTP 404', async () => {
    const { host, task } = await prepareRemoval({ ...PAGE, status: 404 });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'nothing exists there any more',
      url: new URL(`${HOST}/${OPTIONS.bin}/page.html`),
      written: false,
    });
    expect(host.seen).toHaveLength(1);
  });

  test('fails where HTTP 200 comes with a page, which the bin host itself never sends', async () => {
    const { host, task } = await prepareRemoval({ ...PAGE, status: 200 });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'HOST_ERROR',
      httpCode: 200,
      message: expect.stringMatching(/ answered HTTP 200 with a page$/),
      hint: 'check `bin:` and `bin-host-url:`, or run the step again',
    });
    expect(host.seen).toHaveLength(5);
  });

  test.each([
    [302, 'HOST_ERROR', 1],
    [400, 'HOST_ERROR', 1],
    [403, 'HOST_ERROR', 1],
    [405, 'HOST_ERROR', 1],
    [429, 'RATE_LIMITED', 3],
    [500, 'HOST_ERROR', 5],
    [503, 'HOST_ERROR', 5],
  ] as const)('fails for HTTP %i as %s after %i attempts', async (status, code, attempts) => {
    const { host, task } = await prepareRemoval({ status });
    await expect(task.perform()).rejects.toMatchObject({
      code,
      httpCode: status,
      message: expect.stringMatching(new RegExp(` answered HTTP ${status}$`)),
    });
    expect(host.seen).toHaveLength(attempts);
  });

  test('is sent again after the time that the host asks to wait with HTTP 429', async () => {
    const { ports, task } = await prepareRemoval((_, nth) =>
      nth === 1 ? { status: 429, headers: { 'retry-after': '9' } } : { status: 200 },
    );
    await expect(task.perform()).resolves.toMatchObject({ written: true });
    expect(ports.clock.slept).toEqual([9_500]);
  });

  test('is sent again after a lost connection', async () => {
    const connectionLost = new DeliveryError('CONNECTION', 'reset', { retryable: true });
    const { host, task } = await prepareRemoval((_, nth) => (nth === 1 ? connectionLost : { status: 404 }));
    await expect(task.perform()).resolves.toMatchObject({ evidence: 'nothing exists there any more' });
    expect(host.seen).toHaveLength(2);
  });

  test('has a preview that sends no request', async () => {
    const { host, task } = await prepareRemoval({ status: 500 });
    await expect(task.preview()).resolves.toBe('page.html would be deleted');
    expect(host.seen).toEqual([]);
  });
});

describe('removing several files through channel K3', () => {
  test('gives each file its own result', async () => {
    const statuses: Readonly<Record<string, number>> = { 'a.txt': 200, 'b.txt': 403, 'c.txt': 404 };
    const { host, remover } = createRemover(({ url }) => ({
      status: statuses[url.split('/').at(-1) ?? ''] ?? 500,
    }));
    const tasks = await prepareAll(
      remover,
      Object.keys(statuses).map((name) => ({ file: null, name })),
    );
    expect(resultsFor(await remover.perform(tasks), tasks)).toMatchObject([
      { written: true, url: new URL(`${HOST}/${OPTIONS.bin}/a.txt`) },
      { code: 'HOST_ERROR', httpCode: 403 },
      { written: false, url: new URL(`${HOST}/${OPTIONS.bin}/c.txt`) },
    ]);
    expect(host.seen).toHaveLength(3);
  });

  test('gives each file its own preview', async () => {
    const { remover } = createRemover(() => ({ status: 500 }));
    const items = ['a.txt', 'b.txt'].map((name) => ({ file: null, name }));
    const tasks = await prepareAll(remover, items);
    expect(resultsFor(await remover.preview(tasks), tasks)).toEqual([
      'a.txt would be deleted',
      'b.txt would be deleted',
    ]);
  });
});
