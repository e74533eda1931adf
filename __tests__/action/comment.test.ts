import { describe, expect, test } from '@jest/globals';
import { startAnnouncements } from '../../src/action/announcements.ts';
import type { CurrentRun } from '../../src/action/current-run.ts';
import type { Report } from '../../src/delivery/report.ts';
import type { ApiConnection } from '../../src/github/api/client.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import type { DeliveryRequest } from '../../src/request/parse-request.ts';
import { attemptWith, placementWith, requestWith } from '../delivery/builders.ts';
import { Discussion } from '../github/discussion.ts';
import { type CallName, type FakeGitHub, failure } from '../github/fake-github.ts';
import { fakePorts } from '../support/ports.ts';
import { runOf } from './current-runs.ts';
import { notProven, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';

const BOT = 'github-actions[bot]';
const PERMISSIONS = 'give the job `permissions: …`';
const ours = { id: 1, full_name: 'octo/site' };

const commentRequest = (more: Partial<RawInputs> = {}): DeliveryRequest =>
  requestWith({ file: 'out/page.html', token: 'ghs_token', marker: 'It works', comment: 'true', ...more });

const runForPull = (from: object = ours): CurrentRun =>
  runOf({ pull_request: { number: 7, head: { sha: 'c0ffee01', repo: from }, base: { repo: ours } } });

interface UpdateOptions {
  /** The text of a comment that exists already. */
  readonly existing?: string;
  readonly request?: DeliveryRequest;
  readonly run?: CurrentRun;
  readonly answers?: Readonly<Partial<Record<CallName, unknown>>>;
}

/** Announces these reports on a pull request with comments by these authors. */
async function announce(
  reports: readonly Report[],
  comments: readonly (readonly [text: string, author: string])[],
  { request = commentRequest(), run = runForPull(), answers = {} }: UpdateOptions,
) {
  const discussion = new Discussion();
  for (const [text, author] of comments) discussion.write(text, author);
  const github = discussion.seenBy(BOT, answers);
  const opened: ApiConnection[] = [];
  const connect = (connection: ApiConnection): FakeGitHub => {
    opened.push(connection);
    return github;
  };
  const ports = fakePorts();
  await startAnnouncements({ request, run, grant: () => PERMISSIONS, connect }, ports)(reports);
  return { texts: discussion.comments.map(({ body }) => body), lines: ports.logger.lines, github, opened };
}

/** The comment of one step, once it was updated for these reports; `null` if there is none. */
async function update(reports: readonly Report[], options: UpdateOptions = {}) {
  const existing = options.existing === undefined ? [] : [[options.existing, BOT] as const];
  const { texts, lines, github, opened } = await announce(reports, existing, options);
  return { body: texts[0] ?? null, lines, calls: github.names, opened };
}

const warnings = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('warning: '));
const markIn = (body: string | null): string => /^<!-- \S+/.exec(body ?? '')?.[0] ?? '';

describe('the comment', () => {
  const failing = [unprovenFile('page.html')];

  test('is not created by a withdrawal, which updates an existing one', async () => {
    const request = commentRequest({ operation: 'withdraw', file: '', path: 'page.html' });
    const reports = [withdrawn(reportWith())];
    expect((await update(reports, { request })).body).toBeNull();
    const { body: existing = '' } = await update([reportWith()], {
      request: commentRequest({ path: 'page.html' }),
    });
    const { body } = await update(reports, { request, existing: existing ?? '' });
    expect(body).toContain('Preview withdrawn');
    expect(body).not.toContain('](<https://octo.github.io');
  });

  test.each([
    ['an earlier attempt', [4242, 1], false],
    ['a later attempt', [4242, 3], true],
    ['an earlier run', [999, 9], false],
    ['a later run', [4243, 1], true],
    ['an unknown run', null, true],
  ] as const)('is replaced by the failure of %s, or stays', async (_, number, isReplaced) => {
    const run = (one: CurrentRun['number']) => ({ ...runForPull(), number: one });
    const { body } = await update([provenFile('page.html')], { run: run([4242, 2]) });
    const existing = body ?? '';
    const refused = [reportWith({ subject: 'page.html', main: null, failure: notProven })];
    expect((await update(refused, { existing, run: run(number) })).body !== existing).toBe(isReplaced);
    // Whoever wrote last has changed what the link shows.
    expect((await update(failing, { existing, run: run(number) })).body).not.toBe(existing);
    // What is proven is there now, whichever run put it there: but no earlier failure hides a later run.
    const after = (await update([provenFile('b.html')], { existing, run: run(number) })).body ?? '';
    expect(after).toContain('b.html');
    if (isReplaced) return;
    expect((await update(refused, { existing: after, run: run([4242, 1]) })).body).toBe(after);
  });

  test.each(['', ' {"run":', ' {"proven":[{"name":"a","url":"javascript:x","commit":null,"time":0}]}'])(
    'begins anew where what it remembered can not be read, and says so:%s',
    async (json) => {
      const { body: written } = await update([reportWith()]);
      const existing = `${markIn(written)}${json} -->\n\n[a](<https://octo.github.io/a>)`;
      const { body, lines } = await update(failing, { existing });
      expect(body).not.toContain('](<https://octo');
      expect(warnings(lines)).toEqual([
        'warning: Could not read what the earlier comment or issue remembers, so its earlier links are left out',
      ]);
    },
  );
});

describe('the comment, with several steps', () => {
  const markOf = async (more: Partial<RawInputs>): Promise<string> =>
    markIn((await update([reportWith()], { request: commentRequest(more) })).body);

  test.each<[string, Partial<RawInputs>, Partial<RawInputs>, boolean]>([
    ['one path for two files', { path: 'p/a.html', file: 'a' }, { path: 'p/a.html', file: 'b' }, true],
    ['one list of files', { file: 'a.html\n  b.html \n\n' }, { file: 'a.html\nb.html' }, true],
    ['one link', { file: '', url: 'https://a.dev/' }, { file: '', url: 'https://a.dev/' }, true],
    ['two paths', { path: 'a.html' }, { path: 'b.html' }, false],
    ['two files', { file: 'a.html' }, { file: 'b.html' }, false],
    ['two links', { file: '', url: 'https://a.dev/' }, { file: '', url: 'https://b.dev/' }, false],
  ])('steps with %s share a comment, or not', async (_, one, other, isShared) => {
    expect((await markOf(one)) === (await markOf(other))).toBe(isShared);
  });
});

describe('the comment, after a withdrawal', () => {
  const AT = 'https://octo.github.io/site/';
  const byOther = (reports: readonly Report[]) =>
    update(reports, { request: commentRequest({ path: 'p/1/page.html' }) });
  const body = async (...reports: Report[]): Promise<string> => (await byOther(reports)).body ?? '';

  /** The comments on the pull request once `gone` is withdrawn by a step of its own. */
  const withdraw = (gone: readonly string[], comments: readonly [string, string][]) =>
    announce([{ ...withdrawn(provenFile('p/')), gone }], comments, {
      request: commentRequest({ path: 'p/', file: '', operation: 'withdraw' }),
    });

  test.each([
    ['its page', `${AT}page.html`, `${AT}page.html`],
    ['the page of its folder, by its other name', `${AT}p/1/`, `${AT}p/1/index.html`],
    ['its asset, as GitHub writes it', `${AT}a+b&lt;c.zip`, `${AT}a%2Bb&lt;c.zip`],
  ])('the comment of another step about %s says that it is gone', async (_, address, shown) => {
    const url = new URL(shown);
    const report = reportWith({
      subject: 'a_b.html',
      main: attemptWith({ placement: placementWith({ url }) }),
    });
    const before = await body(report);
    const { texts, lines } = await withdraw([`${AT}other.html`, address], [[before, BOT]]);
    expect(texts[0]?.split('\n\n').slice(0, 3)).toEqual([
      expect.stringContaining(markIn(before)),
      '### 🗑️ Preview withdrawn',
      expect.stringMatching(/^- a&#95;b\.html: <code>(?!.*amp;).*<\/code>$/),
    ]);
    expect(texts[0]).not.toMatch(/\]\(<https:\/\/octo/);
    expect(texts[0]).toMatch(/\n\n2026-\S+ \S+ UTC · .*\[run\]\(<\S+>\)$/);
    expect(lines.at(-1)).toBe('Other comments updated, because links are gone: 1');
    // Once more: there is nothing left to say.
    const again = await withdraw([address], [[texts[0] ?? '', BOT]]);
    expect(again.github.writes).toEqual([]);
  });

  test('the comment about several files keeps the links that still open', async () => {
    const before = await body(provenFile('a.html'), unprovenFile('c.html'), provenFile('b.html'));
    const { texts } = await withdraw([`${AT}a.html`], [[before, BOT]]);
    expect(texts[0]).toMatch(
      /Preview withdrawn\n\n- a\.html: <code>.*\n\nLast verified at .*: \[b\.html\]\(<https:\/\/octo\.github\.io\/site\/b\.html>\)\n\n2026/,
    );
    expect(texts[0]?.match(/<https:\/\/octo[^>]+>/g)).toHaveLength(1);
  });

  test('comments about anything else, of others, and a quoted one stay as they are', async () => {
    const ours = await body(provenFile('a.html'));
    const stays: [string, string][] = [
      [await body(provenFile('a.html.html')), BOT],
      [await body(unprovenFile('a.html')), BOT],
      [ours, 'human'],
      [`> ${ours}`, BOT],
    ];
    const { texts, github } = await withdraw([`${AT}a.html`], stays);
    expect(texts).toEqual(stays.map(([text]) => text));
    expect(github.writes).toEqual([]);
  });
});

describe('the comment, if it fails', () => {
  const OTHER = 'https://ghe.other.dev';
  test.each([failure('BAD_TOKEN', 401), failure('NO_PERMISSION', 403), failure('NOT_FOUND', 404)])(
    'warns once after %s, and says what to change',
    async (create_comment) => {
      const { lines } = await update([reportWith()], { answers: { create_comment } });
      expect(warnings(lines)).toEqual([
        `warning: Could not update the comment on pull request 7 (the delivery is not affected): ${create_comment.message}. To fix: ${PERMISSIONS}`,
      ]);
    },
  );

  test.each<[string, UpdateOptions, string]>([
    [
      'a run without a token',
      { request: commentRequest({ token: '' }) },
      'there is no token. To fix: set `token:`, such as',
    ],
    ['a host that is down', { answers: { graphql: failure('HOST_ERROR', 502) } }, 'the host said 502'],
    [
      'a run of an unknown repository',
      { run: { ...runForPull(), repository: null } },
      'this run is on an unknown instance, but `api-url` is for api.github.com. To fix: leave out `comment:`',
    ],
    [
      'a request that names another instance, which gets no token',
      { request: commentRequest({ 'api-url': `${OTHER}/api/v3`, 'auth-url': OTHER }) },
      'this run is on github.com, but `api-url` is for ghe.other.dev. To fix: leave out `comment:`',
    ],
  ])('warns of %s without naming the two workflows', async (_, options, said) => {
    const { lines, opened } = await update([reportWith()], options);
    expect(warnings(lines)).toEqual([expect.stringContaining(`(the delivery is not affected): ${said}`)]);
    if (options.answers === undefined) expect(opened).toEqual([]);
    expect(lines.join()).not.toContain('fork-safe');
  });
});
