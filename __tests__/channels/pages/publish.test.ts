import { describe, expect, test } from '@jest/globals';
import { createPages, type PagesOptions } from '../../../src/channels/pages/publish.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { createGitHubClient } from '../../../src/github/api/client.ts';
import { RETRY } from '../../../src/protocol/limits.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { absent, type CallName, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../../support/ports.ts';
import { circumstancesWith } from '../circumstances.ts';
import { prepareOne } from '../one.ts';

const METHOD_A_LIMIT = 1_048_576;
const PAGE = 'https://octo.github.io/site/page.html';
const WRITES: readonly CallName[] = ['put_file_le1mb', 'tree', 'commit', 'update_ref', 'request_build'];

type Answers = ConstructorParameters<typeof FakeGitHub>[0];

interface Stage {
  readonly bytes?: string | Buffer;
  readonly answers?: Answers;
  readonly options?: Partial<PagesOptions>;
  readonly name?: string;
  readonly http?: (request: Seen, file: LocalFile, nth: number) => Scripted | Error | undefined;
}

/** A repository without the file, whose host takes every write, unless told otherwise. */
const EMPTY: Answers = {
  get_file: absent,
  commits_of_path: [],
  put_file_le1mb: { commit: { sha: 'c0ffee' } },
  get_ref: { object: { sha: 'base' } },
  get_commit: { tree: { sha: 'basetree' } },
  tree: { sha: 'newtree' },
  commit: { sha: 'c0ffee' },
  update_ref: {},
};

async function staged({ bytes = '<p>hello</p>', answers = {}, options = {}, name, http }: Stage = {}) {
  const file = await localFile(bytes);
  const github = new FakeGitHub({ ...EMPTY, ...answers });
  const host = new FakeHttp((request, nth) => http?.(request, file, nth));
  const ports = fakePorts(host.http);
  const channel = createPages(
    {
      github,
      overwrite: false,
      essence: 'from run 7 of Deliver',
      hasMarker: false,
      timeout: 240_000,
      branch: undefined,
      path: undefined,
      pagesBase: undefined,
      rawBase: undefined,
      serverUrl: new URL('https://github.com'),
      ...options,
    },
    ports,
  );
  const intent = await prepareOne(channel, file, name);
  return {
    file,
    github,
    host,
    ports,
    intent,
    written: () => github.names.filter((name) => WRITES.includes(name)),
  };
}

const standing = (sha: string, message: string) => ({
  get_file: { type: 'file', sha },
  commits_of_path: [{ sha: 'last', commit: { message } }],
});
const OURS = `ADD page.html: before\n\n${TRAILER}`;

describe('preparing K1', () => {
  test('reads and writes nothing for an ordinary name', async () => {
    const { github, host, intent } = await staged();
    expect([github.calls, host.seen]).toEqual([[], []]);
    expect(intent.plan).toEqual({
      channel: 'K1',
      method: 'method A, single-call write',
      destination: 'branch main, path page.html',
      name: 'page.html',
      claim: 'opens on the screen',
    });
  });

  test.each([
    [METHOD_A_LIMIT, 'method A, single-call write'],
    [METHOD_A_LIMIT + 1, 'method B, object API'],
  ])('takes for %i bytes %s', async (size, method) => {
    const { intent } = await staged({ bytes: Buffer.alloc(size, 'x') });
    expect(intent.plan.method).toBe(method);
  });

  test('refuses a name that the site would never show', async () => {
    await expect(staged({ name: '_page.html' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });

  test('needs a token, and a file', async () => {
    await expect(staged({ options: { github: null } })).rejects.toMatchObject({ code: 'NO_TOKEN' });
    const channel = createPages({ github: new FakeGitHub() } as unknown as PagesOptions, fakePorts());
    await expect(prepareOne(channel, null)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: 'set `file:`',
    });
  });

  test('watches the build for the commit that it made', async () => {
    const { intent } = await staged({ answers: { pages_latest: { status: 'built', commit: 'c0ffee' } } });
    const placement = await intent.place();
    await expect(intent.watch?.(placement)).resolves.toMatchObject({ finished: true });
  });
});

describe('placing a new file', () => {
  test('by method A is one PUT with the protocol’s message and our trailer', async () => {
    const { github, intent, written } = await staged();
    await expect(intent.place()).resolves.toEqual({
      evidence: 'commit c0ffee',
      url: new URL(PAGE),
      written: true,
      commitSha: 'c0ffee',
      rawUrl: new URL('https://raw.githubusercontent.com/octo/site/main/page.html'),
      bypassCache: true,
      hostMayChangeBytes: false,
      previousSha256: undefined,
      mustBeExternal: false,
      notes: [],
      unknown: [],
    });
    expect(written()).toEqual(['put_file_le1mb']);
    expect(github.sent('put_file_le1mb')[0]).toEqual({
      path: 'page.html',
      branch: 'main',
      message: `ADD page.html: from run 7 of Deliver\n\n${TRAILER}`,
      content: Buffer.from('<p>hello</p>').toString('base64'),
    });
  });

  test('by method B is blob, reference, tree, commit and reference update, in that order', async () => {
    const { file, github, host, intent } = await staged({
      bytes: Buffer.alloc(METHOD_A_LIMIT + 1, 'x'),
      http: (_, { blobSha }) => ({ status: 201, body: { sha: blobSha } }),
    });
    await expect(intent.place()).resolves.toMatchObject({ commitSha: 'c0ffee' });
    expect(host.seen.map(({ url }) => url)).toEqual(['https://api.github.com/repos/octo/site/git/blobs']);
    expect(github.names).toEqual([
      'get_file',
      'get_ref',
      'get_file',
      'get_commit',
      'tree',
      'commit',
      'update_ref',
    ]);
    expect(github.sent('tree')[0]).toMatchObject({ tree: [{ path: 'page.html', sha: file.blobSha }] });
  });

  test('carries on what the destination had to assume', async () => {
    const file = await localFile('x');
    const channel = createPages(
      {
        github: new FakeGitHub(EMPTY),
        serverUrl: new URL('https://github.com'),
      } as unknown as PagesOptions,
      fakePorts(),
    );
    const intent = await prepareOne(channel, file, 'page.html', circumstancesWith({ site: 'unreadable' }));
    await expect(intent.place()).resolves.toMatchObject({
      unknown: [expect.stringContaining('pages: read')],
    });
  });
});

describe('placing where something stands', () => {
  test.each([
    ['ours', OURS],
    ['somebody else’s', 'Update page.html'],
  ])('makes no commit when %s holds the same bytes', async (_, message) => {
    const { blobSha } = await localFile('<p>hello</p>');
    const { intent, written } = await staged({ answers: standing(blobSha, message) });
    await expect(intent.place()).resolves.toMatchObject({
      commitSha: 'last',
      evidence: 'commit last already holds these bytes',
    });
    expect(written()).toEqual([]);
  });

  test('replaces our own file, and only the blob that was seen', async () => {
    const { github, intent } = await staged({ answers: standing('0ld', OURS) });
    await intent.place();
    expect(github.sent('put_file_le1mb')).toEqual([
      expect.objectContaining({ sha: '0ld', message: expect.stringMatching(/^UPDATE page\.html: /) }),
    ]);
  });

  test('never replaces somebody else’s file', async () => {
    const { intent, written } = await staged({ answers: standing('0ld', 'Add my page') });
    await expect(intent.place()).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: expect.stringMatching(/`path:`.*`overwrite: true`/),
    });
    expect(written()).toEqual([]);
  });

  test('replaces somebody else’s file on the user’s word', async () => {
    const { github, intent } = await staged({
      answers: standing('0ld', 'Add my page'),
      options: { overwrite: true },
    });
    await intent.place();
    expect(github.sent('put_file_le1mb')).toMatchObject([{ sha: '0ld' }]);
  });

  test('never replaces by method B either, and sends nothing for it', async () => {
    const { host, intent, written } = await staged({
      bytes: Buffer.alloc(METHOD_A_LIMIT + 1, 'x'),
      answers: standing('0ld', 'Add my page'),
      http: (_, { blobSha }) => ({ status: 201, body: { sha: blobSha } }),
    });
    await expect(intent.place()).rejects.toMatchObject({ code: 'NOT_OURS' });
    // Not even the blob is sent.
    expect(host.seen).toEqual([]);
    expect(written()).toEqual([]);
  });
});

describe('a write that fails', () => {
  const conflict = failure('CONFLICT', 409, { retryable: true });
  const first = (thrown: Error, then: unknown) => (_: unknown, nth: number) => (nth === 1 ? thrown : then);
  const done = { commit: { sha: 'c0ffee' } };

  test('because the branch moved looks again and sends the blob that stands now', async () => {
    const { github, intent } = await staged({
      answers: {
        get_file: (_: unknown, nth: number) => ({ type: 'file', sha: `blob${nth}` }),
        commits_of_path: [{ sha: 'last', commit: { message: OURS } }],
        put_file_le1mb: first(conflict, done),
      },
    });
    await intent.place();
    expect(github.sent('put_file_le1mb')).toMatchObject([{ sha: 'blob1' }, { sha: 'blob2' }]);
  });

  test('because somebody took the path meanwhile leaves their file alone', async () => {
    const { github, intent } = await staged({
      answers: {
        get_file: first(absent, { type: 'file', sha: 'theirs' }),
        commits_of_path: [{ sha: 'last', commit: { message: 'Add my page' } }],
        // So the host answers where a file stands and no sha is given.
        put_file_le1mb: failure('CONFLICT', 422, { retryable: true }),
      },
    });
    await expect(intent.place()).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(github.sent('put_file_le1mb')).toHaveLength(1);
  });

  test('because the branch moved sends a new file again without a second look', async () => {
    const { github, intent } = await staged({
      answers: { put_file_le1mb: first(conflict, { commit: { sha: 'c0ffee' } }) },
    });
    await expect(intent.place()).resolves.toMatchObject({ commitSha: 'c0ffee' });
    expect(github.sent('put_file_le1mb')).toHaveLength(2);
    expect(github.sent('get_file').filter((asked) => asked.path === 'page.html')).toHaveLength(1);
  });

  test('by method B begins again at the branch, with the same blob', async () => {
    const { github, host, intent } = await staged({
      bytes: Buffer.alloc(METHOD_A_LIMIT + 1, 'x'),
      answers: {
        get_ref: (_: unknown, nth: number) => ({ object: { sha: `base${nth}` } }),
        update_ref: first(conflict, {}),
      },
      http: (_, { blobSha }) => ({ status: 201, body: { sha: blobSha } }),
    });
    await intent.place();
    expect(github.sent('commit')).toMatchObject([{ parents: ['base1'] }, { parents: ['base2'] }]);
    expect(host.seen).toHaveLength(1);
  });

  test.each(['HOST_ERROR', 'CONNECTION'] as const)(
    'ambiguously (%s) looks first, and does not commit twice what has landed',
    async (code) => {
      const { blobSha } = await localFile('<p>hello</p>');
      const { github, intent } = await staged({
        answers: {
          get_file: first(absent, { type: 'file', sha: blobSha }),
          commits_of_path: [{ sha: 'landed', commit: { message: OURS } }],
          put_file_le1mb: failure(code, undefined, { retryable: true }),
        },
      });
      await expect(intent.place()).resolves.toMatchObject({ commitSha: 'landed', evidence: 'commit landed' });
      expect(github.sent('put_file_le1mb')).toHaveLength(1);
    },
  );

  test('ambiguously is sent again when nothing has landed', async () => {
    const lost = failure('CONNECTION', undefined, { retryable: true });
    const { github, intent } = await staged({ answers: { put_file_le1mb: first(lost, done) } });
    await expect(intent.place()).resolves.toMatchObject({ evidence: 'commit c0ffee' });
    expect(github.names).toEqual(['get_file', 'put_file_le1mb', 'get_file', 'put_file_le1mb']);
  });

  test.each(['FORBIDDEN_BY_RULE', 'NO_PERMISSION', 'BAD_TOKEN'] as const)(
    'for good (%s) is not sent again',
    async (code) => {
      const refused = failure(code, 409);
      const { github, intent } = await staged({ answers: { put_file_le1mb: refused } });
      await expect(intent.place()).rejects.toBe(refused);
      expect(github.sent('put_file_le1mb')).toHaveLength(1);
    },
  );

  test('for ever is given up', async () => {
    const { github, intent } = await staged({ answers: { put_file_le1mb: conflict } });
    await expect(intent.place()).rejects.toMatchObject({ message: conflict.message, retryable: false });
    expect(github.sent('put_file_le1mb')).toHaveLength(RETRY.conflict.attempts);
  });

  test('because the API is down asks it as often as the policy says, and no oftener', async () => {
    const host = new FakeHttp(() => ({ status: 502 }));
    const ports = fakePorts(host.http);
    const apiUrl = new URL('https://api.github.com');
    const github = createGitHubClient({ apiUrl, token: 't', owner: 'octo', repo: 'site' }, ports);
    const options = { github, serverUrl: new URL('https://github.com') };
    const channel = createPages(options as unknown as PagesOptions, ports);
    const intent = await prepareOne(channel, await localFile('x'));
    await expect(intent.place()).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 502 });
    expect(host.seen.length).toBe(5);
  });
});

describe('the page that is replaced', () => {
  const replacing = (http: Stage['http'], options: Partial<PagesOptions> = {}) =>
    staged({
      answers: standing('0ld', OURS),
      options: { hasMarker: true, ...options },
      ...(http && { http }),
    });

  test('is fetched past caches before the write, since its marker could pass for ours', async () => {
    const { host, intent } = await replacing(() => ({ body: 'old page' }));
    const { sha256 } = await localFile('old page');
    await expect(intent.place()).resolves.toMatchObject({ previousSha256: sha256 });
    expect(host.seen.map(({ url }) => url)).toEqual([`${PAGE}?v=${NOON / 1000}-before`]);
  });

  test('is of no interest without a marker', async () => {
    const { host, intent } = await replacing(undefined, { hasMarker: false });
    await expect(intent.place()).resolves.toMatchObject({ previousSha256: undefined });
    expect(host.seen).toEqual([]);
  });

  test('is of no interest where nothing stands', async () => {
    const { host, intent } = await staged({ options: { hasMarker: true } });
    await intent.place();
    expect(host.seen).toEqual([]);
  });

  test.each([
    ['answers 404', { status: 404 }],
    ['can’t be reached', new DeliveryError('NO_NETWORK', 'unplugged')],
  ])('does not hold the delivery up when it %s', async (_, answer) => {
    const { intent } = await replacing(() => answer);
    await expect(intent.place()).resolves.toMatchObject({ commitSha: 'c0ffee', previousSha256: undefined });
  });

  test('does not hide our own mistakes', async () => {
    const { intent } = await replacing(() => undefined);
    // Nothing answers: the script's own error stands for a mistake of ours.
    await expect(intent.place()).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});
