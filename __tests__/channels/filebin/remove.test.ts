import { describe, expect, test } from '@jest/globals';
import { createFilebinRemover } from '../../../src/channels/filebin/remove.ts';
import type { FilebinOptions } from '../../../src/channels/filebin/store-file.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../../support/ports.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';

const HOST = 'https://filebin.net';
const OPTIONS: FilebinOptions = {
  binHostUrl: new URL(HOST),
  bin: 'sv1767323045-abc',
  binIsNew: false,
  overwrite: false,
};
const PAGE: Scripted = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>' };

type Answer = (request: Seen) => Scripted;

/** The list of a bin that holds files with the content `x`. */
async function listWith(...names: readonly string[]): Promise<Scripted> {
  const { sha256 } = await localFile('x');
  return { body: { bin: { id: OPTIONS.bin }, files: names.map((filename) => ({ filename, sha256 })) } };
}

function createRemover(answer: Answer, list: Scripted | Error, overwrite = false) {
  const host = new FakeHttp((request) => (request.method === 'GET' ? list : answer(request)));
  const ports = fakePorts(host.http);
  const deletes = () => host.seen.filter(({ method }) => method !== 'GET');
  return { host, ports, deletes, remover: createFilebinRemover({ ...OPTIONS, overwrite }, ports) };
}

interface Setup {
  readonly name?: string;
  /** The content of the file at hand; `null` where there is none. */
  readonly content?: string | null;
  readonly list?: Scripted | Error;
  readonly overwrite?: boolean;
}

/** Prepares the removal of page.html from a bin host that answers to DELETE as scripted. */
async function prepareRemoval(
  answer: Scripted,
  { name = 'page.html', content = 'x', list, overwrite }: Setup = {},
) {
  const file = content === null ? null : await localFile(content);
  const created = createRemover(() => answer, list ?? (await listWith('page.html')), overwrite);
  return { ...created, task: await prepareOne(created.remover, file, name) };
}

describe('removing a file through channel K3', () => {
  test('plans one DELETE of the name that the host stores, without sending it', async () => {
    const { host, task } = await prepareRemoval({ status: 500 }, { name: "deep/a'b.pdf" });
    expect(task.plan).toEqual({
      channel: 'K3',
      method: 'one DELETE',
      destination: `bin ${OPTIONS.bin}, name deep-a_b.pdf`,
      name: 'deep-a_b.pdf',
      claim: 'is removed',
    });
    expect(host.seen).toEqual([]);
  });

  test('lists the bin, then sends one DELETE, without a credential', async () => {
    const { host, task } = await prepareRemoval({ status: 200, body: 'File deleted successfully' });
    await expect(task.perform()).resolves.toEqual({
      evidence: `bin ${OPTIONS.bin}, file page.html is deleted`,
      url: new URL(`${HOST}/${OPTIONS.bin}/page.html`),
      written: true,
      // Without approval the address never shows that the file is gone.
      refusals: expect.arrayContaining([expect.objectContaining({ httpCodes: [403], isFinal: true })]),
      notes: [],
      unknown: [],
    });
    expect(host.seen).toEqual([
      { method: 'GET', url: `${HOST}/${OPTIONS.bin}`, headers: { accept: 'application/json' }, body: '' },
      {
        method: 'DELETE',
        url: `${HOST}/${OPTIONS.bin}/page.html`,
        headers: { accept: 'application/json' },
        body: '',
      },
    ]);
  });

  test('finds that nothing exists for HTTP 404', async () => {
    const { deletes, task } = await prepareRemoval({ ...PAGE, status: 404 });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'nothing exists there',
      url: new URL(`${HOST}/${OPTIONS.bin}/page.html`),
      written: false,
    });
    expect(deletes()).toHaveLength(1);
  });

  test('fails where HTTP 200 comes with a page, which the bin host itself never sends', async () => {
    const { deletes, task } = await prepareRemoval({ ...PAGE, status: 200 });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'HOST_ERROR',
      httpCode: 200,
      message: expect.stringMatching(/ answered HTTP 200 with a page$/),
      hint: 'check `bin:` and `bin-host-url:`, or try again',
    });
    expect(deletes()).toHaveLength(5);
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
    const { deletes, task } = await prepareRemoval({ status });
    await expect(task.perform()).rejects.toMatchObject({
      code,
      httpCode: status,
      message: expect.stringMatching(new RegExp(` answered HTTP ${status}$`)),
    });
    expect(deletes()).toHaveLength(attempts);
  });
});

describe('whose a file in a bin is', () => {
  test.each([
    ['has other bytes than the file at hand', 'y', /its bytes are not those of the file at hand/],
    ['has no file at hand to compare it with', null, /there is no file at hand/],
  ])('is not known where it %s: it is kept', async (_, content, message) => {
    const { deletes, task } = await prepareRemoval({ status: 200 }, { content });
    const refused = {
      code: 'NOT_OURS',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/`file:`.*`overwrite: true`/),
    };
    await expect(task.preview()).rejects.toMatchObject(refused);
    await expect(task.perform()).rejects.toMatchObject(refused);
    expect(deletes()).toEqual([]);
  });

  test.each(['y', null])('does not matter with overwrite (file at hand: %j)', async (content) => {
    const { deletes, task } = await prepareRemoval({ status: 200 }, { content, overwrite: true });
    await expect(task.preview()).resolves.toBe('page.html would be deleted');
    expect(deletes()).toEqual([]);
    await expect(task.perform()).resolves.toMatchObject({ written: true });
    expect(deletes()).toHaveLength(1);
  });

  test.each<[string, Scripted]>([
    ['the bin holds only other names', { body: { bin: {}, files: [{ filename: 'b.html', sha256: 'ff' }] } }],
    ['the bin does not exist', { status: 404, body: 'The bin does not exist.' }],
    ['the bin is deleted', { status: 404, body: { bin: {}, files: null } }],
  ])('does not matter where %s: there is nothing to delete', async (_, list) => {
    const { deletes, task } = await prepareRemoval({ status: 500 }, { list, content: null });
    await expect(task.preview()).resolves.toBe('nothing exists there');
    await expect(task.perform()).resolves.toMatchObject({ written: false });
    expect(deletes()).toEqual([]);
  });

  test.each<[string, Scripted]>([
    ['HTTP 403', { status: 403 }],
    ['a page', { body: '<html>' }],
    ['HTTP 500', { status: 500 }],
  ])('is not known where the list is %s: nothing is deleted', async (_, list) => {
    for (const overwrite of [false, true]) {
      const { deletes, task } = await prepareRemoval({ status: 200 }, { list, overwrite });
      await expect(task.perform()).rejects.toMatchObject({ code: 'HOST_ERROR' });
      expect(deletes()).toEqual([]);
    }
  });
});

describe('removing several files through channel K3', () => {
  const NAMES = ['a.txt', 'b.txt', 'c.txt'];
  const prepareSeveral = async (answer: Answer, list: Scripted) => {
    const created = createRemover(answer, list);
    const file = await localFile('x');
    const items = NAMES.map((name) => ({ file, name }));
    return { ...created, tasks: await prepareAll(created.remover, items) };
  };

  test('gives each file its own result, and lists the bin once', async () => {
    const statuses: Readonly<Record<string, number>> = { 'a.txt': 200, 'b.txt': 403, 'c.txt': 404 };
    const { host, remover, tasks } = await prepareSeveral(
      ({ url }) => ({ status: statuses[url.split('/').at(-1) ?? ''] ?? 500 }),
      await listWith(...NAMES),
    );
    expect(resultsFor(await remover.perform(tasks), tasks)).toMatchObject([
      { written: true, url: new URL(`${HOST}/${OPTIONS.bin}/a.txt`) },
      { code: 'HOST_ERROR', httpCode: 403 },
      { written: false, url: new URL(`${HOST}/${OPTIONS.bin}/c.txt`) },
    ]);
    expect(host.seen.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'DELETE', 'DELETE']);
  });
});
