import { describe, expect, test } from '@jest/globals';
import { createPagesActions } from '../../../src/channels/pages/publish.ts';
import { methodOf, type PagesOptions } from '../../../src/channels/pages/target.ts';
import type { DeliveryError } from '../../../src/errors.ts';
import { createGitHubClient } from '../../../src/github/api/client.ts';
import { RETRY } from '../../../src/protocol/limits.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { changeWith } from '../../github/changes.ts';
import { absent, type CallName, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../../support/ports.ts';
import { ownMessage } from '../fake-branch.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { prepareOne } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const METHOD_A_LIMIT = 1_048_576;
const PAGE = 'https://octo.github.io/site/page.html';
const WRITES: readonly CallName[] = ['put_file_le1mb', 'tree', 'commit', 'update_ref', 'request_build'];

type Answers = ConstructorParameters<typeof FakeGitHub>[0];

interface Setup {
  readonly bytes?: string | Buffer;
  readonly answers?: Answers;
  readonly options?: Partial<PagesOptions>;
  readonly name?: string;
  readonly http?: (request: Seen, file: LocalFile, nth: number) => Scripted | Error | undefined;
}

/** A repository without the file, whose host accepts every write. */
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

/** Prepares one file for a repository that answers as scripted. */
async function prepareFile({ bytes = '<p>hello</p>', answers = {}, options = {}, name, http }: Setup = {}) {
  const file = await localFile(bytes);
  const github = new FakeGitHub({ ...EMPTY, ...answers });
  const host = new FakeHttp((request, nth) =>
    http === undefined ? { status: 404 } : http(request, file, nth),
  );
  const ports = fakePorts(host.http);
  const action = createPagesActions(pagesOptionsWith(options), accessWith(github), ports).publish;
  const task = await prepareOne(action, file, name);
  return {
    file,
    github,
    host,
    ports,
    task,
    getWrites: () => github.names.filter((name) => WRITES.includes(name)),
  };
}

const answersForExisting = (sha: string, message = ownMessage(sha)) => ({
  get_file: { type: 'file', sha },
  commits_of_path: [{ sha: 'last', commit: { message } }],
});

describe('preparing a file for channel K1', () => {
  test('sends no request for an ordinary name', async () => {
    const { github, host, task } = await prepareFile();
    expect([github.calls, host.seen]).toEqual([[], []]);
    expect(task.plan).toEqual({
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
  ])('plans for %i bytes %s', async (size, method) => {
    const { task } = await prepareFile({ bytes: Buffer.alloc(size, 'x') });
    expect(task.plan.method).toBe(method);
  });

  test('plans for a page with a picture what writes both, and shows in a preview what removes an old one', async () => {
    const { task } = await prepareFile({ options: { picture: true } });
    expect(task).toMatchObject({
      plan: { method: 'method B, object API' },
      data: { target: { method: 'B' } },
    });
    const change = changeWith();
    const withRemoval = { ...change, removals: ['a/b.html.png'] };
    expect(methodOf([change], { method: 'A' })).toBe('A');
    expect(methodOf([withRemoval], { method: 'A' })).toBe('B');
    expect(methodOf([withRemoval], { method: 'C' })).toBe('C');
    // The single-call write compares nothing but its own path.
    const ofFolder = { ...change, basis: new Map([['a', 'tree']]) };
    expect(methodOf([ofFolder], { method: 'A' })).toBe('B');
  });

  test('refuses a name that Jekyll leaves out of the site', async () => {
    await expect(prepareFile({ name: '_page.html' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });

  test('refuses to prepare a file without a token', async () => {
    const action = createPagesActions(pagesOptionsWith(), accessWith(null), fakePorts()).publish;
    await expect(prepareOne(action, await localFile('x'))).rejects.toMatchObject({ code: 'NO_TOKEN' });
  });

  test('refuses to prepare a commit without a file', async () => {
    const action = createPagesActions(pagesOptionsWith(), accessWith(new FakeGitHub()), fakePorts()).publish;
    await expect(prepareOne(action, null)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: 'name a file',
    });
  });

  test('watches the build of the commit that it made', async () => {
    const { task } = await prepareFile({ answers: { pages_latest: { status: 'built', commit: 'c0ffee' } } });
    const placement = await task.perform();
    await expect(task.progress(placement)).resolves.toMatchObject({ finished: true });
  });
});

describe('a file that changes the whole site or repository', () => {
  test('is refused before anything is read or written', async () => {
    const access = accessWith(new FakeGitHub());
    const action = createPagesActions(pagesOptionsWith({ path: 'CNAME' }), access, fakePorts()).publish;
    await expect(prepareOne(action, await localFile('x'))).rejects.toMatchObject({
      code: 'NOT_OURS',
      message: "CNAME is not only a page: it changes the site's domain",
    });
  });

  test('is accepted with overwrite', async () => {
    const access = accessWith(new FakeGitHub());
    const options = pagesOptionsWith({ path: 'CNAME', overwrite: true });
    const task = await prepareOne(
      createPagesActions(options, access, fakePorts()).publish,
      await localFile('x'),
    );
    expect(task.plan.name).toBe('CNAME');
  });
});

describe('a delivered file', () => {
  test.each([
    ['is the file that was committed', (file: LocalFile) => file.blobSha, []],
    ['is a file of somebody else', () => 'theirs', 'NOT_PROVEN'],
    ['is none any more', () => null, 'NOT_PROVEN'],
    [
      'cannot be read',
      () => failure('RATE_LIMITED', 403),
      [expect.stringMatching(/^whether the branch main still/)],
    ],
  ])('is looked at again after its proof, where what the branch holds %s', async (_, heldAfter, expected) => {
    let held: string | Error | null = null;
    const { file, task } = await prepareFile({
      answers: {
        get_file: () => (held === null ? absent : held instanceof Error ? held : { type: 'file', sha: held }),
      },
    });
    const placement = await task.perform();
    held = heldAfter(file);
    const checked = await task.recheck(placement).catch(({ code }: DeliveryError) => code);
    expect(checked).toEqual(expected);
  });
});

describe('committing a new file through channel K1', () => {
  test('sends one PUT by method A, with the protocol’s message and trailer', async () => {
    const { file, github, task, getWrites } = await prepareFile();
    await expect(task.perform()).resolves.toEqual({
      evidence: 'commit c0ffee',
      url: new URL(PAGE),
      written: true,
      method: 'method A, single-call write',
      commitSha: 'c0ffee',
      rawUrl: new URL('https://raw.githubusercontent.com/octo/site/main/page.html'),
      bypassCache: true,
      hostMayChangeBytes: false,
      display: 'page',
      earlier: [],
      held: new Map([['page.html', file.blobSha]]),
      notes: [],
      unknown: [],
    });
    expect(getWrites()).toEqual(['put_file_le1mb']);
    expect(github.sent('put_file_le1mb')[0]).toEqual({
      path: 'page.html',
      branch: 'main',
      message: `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: ${file.blobSha} page.html`,
      content: Buffer.from('<p>hello</p>').toString('base64'),
    });
  });

  test('sends blob, reference, tree, commit and reference update by method B, in that order', async () => {
    const { file, github, host, task } = await prepareFile({
      bytes: Buffer.alloc(METHOD_A_LIMIT + 1, 'x'),
      http: (_, { blobSha }) => ({ status: 201, body: { sha: blobSha } }),
    });
    await expect(task.perform()).resolves.toMatchObject({ commitSha: 'c0ffee' });
    expect(host.seen.map(({ url }) => url)).toEqual(['https://api.github.com/repos/octo/site/git/blobs']);
    expect(github.names).toEqual([
      'get_ref',
      'get_file',
      'graphql',
      'get_ref',
      'get_commit',
      'tree',
      'commit',
      'update_ref',
    ]);
    expect(github.sent('tree')[0]).toMatchObject({ tree: [{ path: 'page.html', sha: file.blobSha }] });
  });

  test('lists as unknown what the destination had to assume', async () => {
    const file = await localFile('x');
    const access = accessWith(new FakeGitHub(EMPTY), { site: 'unreadable' });
    const action = createPagesActions(pagesOptionsWith(), access, fakePorts()).publish;
    const task = await prepareOne(action, file);
    await expect(task.perform()).resolves.toMatchObject({
      unknown: [expect.stringContaining('pages: read')],
    });
  });
});

describe('committing through channel K1 where a file exists', () => {
  test.each([
    ['an owned file', undefined],
    ['a foreign file', 'Update page.html'],
  ])('makes no commit where %s holds the same bytes', async (_, message) => {
    const { blobSha } = await localFile('<p>hello</p>');
    const { task, getWrites } = await prepareFile({ answers: answersForExisting(blobSha, message) });
    await expect(task.perform()).resolves.toMatchObject({
      commitSha: 'last',
      evidence: 'commit last already holds these bytes',
    });
    expect(getWrites()).toEqual([]);
  });

  test('replaces an owned file, and only the blob that was found', async () => {
    const { github, task } = await prepareFile({ answers: answersForExisting('0ld') });
    await task.perform();
    expect(github.sent('put_file_le1mb')).toEqual([
      expect.objectContaining({ sha: '0ld', message: expect.stringMatching(/^UPDATE page\.html: /) }),
    ]);
  });

  test('refuses to replace a foreign file by method A', async () => {
    const { task, getWrites } = await prepareFile({ answers: answersForExisting('0ld', 'Add my page') });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: expect.stringMatching(/`path:`.*`overwrite: true`/),
    });
    expect(getWrites()).toEqual([]);
  });

  test('replaces a foreign file with overwrite', async () => {
    const { github, task } = await prepareFile({
      answers: answersForExisting('0ld', 'Add my page'),
      options: { overwrite: true },
    });
    await task.perform();
    expect(github.sent('put_file_le1mb')).toMatchObject([{ sha: '0ld' }]);
  });

  test('refuses to replace a foreign file by method B, and sends nothing', async () => {
    const { host, task, getWrites } = await prepareFile({
      bytes: Buffer.alloc(METHOD_A_LIMIT + 1, 'x'),
      answers: answersForExisting('0ld', 'Add my page'),
      http: (_, { blobSha }) => ({ status: 201, body: { sha: blobSha } }),
    });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NOT_OURS' });
    // The blob is not sent either.
    expect(host.seen).toEqual([]);
    expect(getWrites()).toEqual([]);
  });
});

describe('a commit through channel K1 that fails', () => {
  const conflict = failure('CONFLICT', 409, { retryable: true });
  const firstThen = (thrown: Error, then: unknown) => (_: unknown, nth: number) =>
    nth === 1 ? thrown : then;
  const DONE = { commit: { sha: 'c0ffee' } };

  test('reads the path again where the branch moved, and replaces the blob that exists now', async () => {
    let reads = 0;
    const { github, task } = await prepareFile({
      answers: {
        get_file({ path }: { path: string }) {
          if (path !== 'page.html') return absent;
          reads += 1;
          return { type: 'file', sha: `blob${reads}` };
        },
        commits_of_path: (_: unknown, nth: number) => [
          { sha: 'last', commit: { message: ownMessage(`blob${nth}`) } },
        ],
        put_file_le1mb: firstThen(conflict, DONE),
      },
    });
    await task.perform();
    expect(github.sent('put_file_le1mb')).toMatchObject([{ sha: 'blob1' }, { sha: 'blob2' }]);
  });

  test('leaves a foreign file unchanged that was written during the attempt', async () => {
    const { github, task } = await prepareFile({
      answers: {
        get_file: firstThen(absent, { type: 'file', sha: 'foreign' }),
        commits_of_path: [{ sha: 'last', commit: { message: 'Add my page' } }],
        // The host's answer where a file exists and no sha is given.
        put_file_le1mb: failure('CONFLICT', 422, { retryable: true }),
      },
    });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(github.sent('put_file_le1mb')).toHaveLength(1);
  });

  test('sends a new file again without reading the path again where the branch moved', async () => {
    const { github, task } = await prepareFile({
      answers: { put_file_le1mb: firstThen(conflict, { commit: { sha: 'c0ffee' } }) },
    });
    await expect(task.perform()).resolves.toMatchObject({ commitSha: 'c0ffee' });
    expect(github.sent('put_file_le1mb')).toHaveLength(2);
    expect(github.sent('get_file').filter((asked) => asked.path === 'page.html')).toHaveLength(1);
  });

  test('reads the branch again by method B, and sends the blob only once', async () => {
    const { github, host, task } = await prepareFile({
      bytes: Buffer.alloc(METHOD_A_LIMIT + 1, 'x'),
      answers: {
        // Each attempt compares, and reads the branch again before it writes.
        get_ref: (_: unknown, nth: number) => ({ object: { sha: `base${Math.ceil(nth / 2)}` } }),
        update_ref: firstThen(conflict, {}),
      },
      http: (_, { blobSha }) => ({ status: 201, body: { sha: blobSha } }),
    });
    await task.perform();
    expect(github.sent('commit')).toMatchObject([{ parents: ['base1'] }, { parents: ['base2'] }]);
    expect(host.seen).toHaveLength(1);
  });

  test.each(['HOST_ERROR', 'CONNECTION'] as const)(
    'finds the commit that has arrived after %s, and does not commit twice',
    async (code) => {
      const { blobSha } = await localFile('<p>hello</p>');
      const { github, task } = await prepareFile({
        answers: {
          get_file: firstThen(absent, { type: 'file', sha: blobSha }),
          commits_of_path: [{ sha: 'arrived', commit: { message: ownMessage(blobSha) } }],
          put_file_le1mb: failure(code, undefined, { retryable: true }),
        },
      });
      await expect(task.perform()).resolves.toMatchObject({
        commitSha: 'arrived',
        evidence: 'commit arrived',
      });
      expect(github.sent('put_file_le1mb')).toHaveLength(1);
    },
  );

  test('is sent again after a lost connection where nothing has arrived', async () => {
    const connectionLost = failure('CONNECTION', undefined, { retryable: true });
    const { github, task } = await prepareFile({
      answers: { put_file_le1mb: firstThen(connectionLost, DONE) },
    });
    await expect(task.perform()).resolves.toMatchObject({ evidence: 'commit c0ffee' });
    expect(github.names).toEqual([
      'get_ref',
      'get_file',
      'graphql',
      'put_file_le1mb',
      'get_ref',
      'get_file',
      'graphql',
      'put_file_le1mb',
    ]);
  });

  test.each(['FORBIDDEN_BY_RULE', 'NO_PERMISSION', 'BAD_TOKEN'] as const)(
    'is not sent again after %s',
    async (code) => {
      const refused = failure(code, 409);
      const { github, task } = await prepareFile({ answers: { put_file_le1mb: refused } });
      await expect(task.perform()).rejects.toBe(refused);
      expect(github.sent('put_file_le1mb')).toHaveLength(1);
    },
  );

  test('stops after the last attempt where every attempt conflicts', async () => {
    const { github, task } = await prepareFile({ answers: { put_file_le1mb: conflict } });
    await expect(task.perform()).rejects.toMatchObject({ message: conflict.message, retryable: false });
    expect(github.sent('put_file_le1mb')).toHaveLength(RETRY.conflict.attempts);
  });

  test('sends as many requests as the retry policy allows where the API is down', async () => {
    const host = new FakeHttp(() => ({ status: 502 }));
    const ports = fakePorts(host.http);
    const apiUrl = new URL('https://api.github.com');
    const github = createGitHubClient(
      { apiUrl, token: 't', repository: { owner: 'octo', repo: 'site' } },
      ports,
    );
    const action = createPagesActions(pagesOptionsWith(), accessWith(github), ports).publish;
    const task = await prepareOne(action, await localFile('x'));
    await expect(task.perform()).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 502 });
    expect(host.seen.length).toBe(5);
  });
});

describe('the file that a commit through channel K1 replaces', () => {
  const blobs = [
    { oid: '0ld', size: 3 },
    { oid: '0lder', size: 5 },
  ];
  const prepareReplacement = (message: string, essence?: string) =>
    prepareFile({
      answers: {
        ...answersForExisting('0ld'),
        commits_of_path: [{ sha: 'last-commit', commit: { message }, blobs }],
      },
      ...(essence === undefined ? {} : { options: { essence } }),
    });

  test('is known by what git has of it, and of the one before: its address is not asked', async () => {
    const { host, task } = await prepareReplacement(ownMessage('0ld'));
    await expect(task.perform()).resolves.toMatchObject({
      earlier: [
        { sha: '0ld', size: 3 },
        { sha: '0lder', size: 5 },
      ],
    });
    expect(host.seen).toEqual([]);
  });

  test.each([
    ['another run', ownMessage('0ld').replace('before', 'from run 6 of Deliver'), ['run 6 of Deliver']],
    ['the same run', ownMessage('0ld').replace('before', 'from run 7 of Deliver'), []],
    ['a machine', ownMessage('0ld'), ['commit last-co']],
  ])('is named where it is the delivery of %s', async (_, message, replaced) => {
    const { task } = await prepareReplacement(message);
    const notes = replaced.map((name) => `replaced the delivery of ${name}`);
    await expect(task.perform()).resolves.toMatchObject({ notes });
  });
});

describe('what a commit through channel K1 leaves behind when it fails', () => {
  test('is nothing where a foreign file is not replaced', async () => {
    const { task } = await prepareFile({ answers: answersForExisting('0ld', 'Add my page') });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NOT_OURS', leftBehind: [] });
  });

  test('is nothing where the branch cannot be read', async () => {
    const { task } = await prepareFile({ answers: { get_file: failure('NO_PERMISSION', 403) } });
    await expect(task.perform()).rejects.toMatchObject({ code: 'NO_PERMISSION', leftBehind: [] });
  });

  test('is unknown where the connection broke off during the write', async () => {
    const { task } = await prepareFile({ answers: { put_file_le1mb: failure('CONNECTION') } });
    await expect(task.perform()).rejects.toMatchObject({ code: 'CONNECTION', leftBehind: undefined });
  });
});
