import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type CommentInputs, updateComment } from '../../src/action/comment.ts';
import type { Environment } from '../../src/action/inputs.ts';
import type { Report } from '../../src/delivery/report.ts';
import type { GitHubClientOptions } from '../../src/github/api/client.ts';
import { Discussion } from '../github/discussion.ts';
import { type CallName, type FakeGitHub, failure } from '../github/fake-github.ts';
import { temporaryFolder } from '../support/files.ts';
import { fakePorts } from '../support/ports.ts';
import { planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';

const BOT = 'github-actions[bot]';
const MARKER = /^<!-- screen-delivery:[0-9a-f]{16} -->$/;
const ours = { id: 1, full_name: 'octo/site' };

const inputsWith = (more: Partial<CommentInputs> = {}): CommentInputs => ({
  file: 'out/page.html',
  path: '',
  url: '',
  token: 'ghs_token',
  'api-url': 'https://api.github.com',
  ...more,
});

async function envOf(payload: object, name = 'pull_request'): Promise<Environment> {
  const path = join(await temporaryFolder(), 'event.json');
  await writeFile(path, JSON.stringify(payload));
  return {
    GITHUB_EVENT_PATH: path,
    GITHUB_EVENT_NAME: name,
    GITHUB_REPOSITORY: 'octo/site',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_RUN_ID: '4242',
  };
}

const onPull = (from: object = ours): Promise<Environment> =>
  envOf({ pull_request: { number: 7, head: { sha: 'c0ffee01', repo: from }, base: { repo: ours } } });

interface Told {
  /** The comment's text after the run; `null` where there is none. */
  readonly body: string | null;
  readonly lines: readonly string[];
  readonly calls: readonly CallName[];
  /** With what the API was opened. */
  readonly opened: readonly GitHubClientOptions[];
}

interface Circumstances {
  /** The comment that stands already. */
  readonly standing?: string;
  readonly inputs?: CommentInputs;
  readonly env?: Environment;
  readonly answers?: Readonly<Partial<Record<CallName, unknown>>>;
}

/** What became of the comment, and what the log says. */
async function told(reports: readonly Report[], circumstances: Circumstances = {}): Promise<Told> {
  const { standing, inputs = inputsWith(), env = await onPull(), answers = {} } = circumstances;
  const discussion = new Discussion();
  if (standing !== undefined) discussion.write(standing, BOT);
  const github = discussion.seenBy(BOT, answers);
  const opened: GitHubClientOptions[] = [];
  const connect = (options: GitHubClientOptions): FakeGitHub => {
    opened.push(options);
    return github;
  };
  const { logger, ...ports } = fakePorts();
  await updateComment({ reports, inputs, env, connect }, { ...ports, logger });
  return { body: discussion.comments[0]?.body ?? null, lines: logger.lines, calls: github.names, opened };
}

/** A comment of an earlier run of the same step. */
async function earlier(inputs = inputsWith()): Promise<string> {
  return (await told([provenFile('page.html')], { inputs })).body ?? '';
}

const warnings = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('warning: '));
const markerIn = (body: string | null): string => body?.split('\n')[0] ?? '';

describe('the comment', () => {
  test('is made on the event’s own pull request once the file is proven', async () => {
    const { body, lines, calls, opened } = await told([reportWith()]);
    expect(markerIn(body)).toMatch(MARKER);
    expect(body).toContain('ГОТОВО');
    expect(calls).toEqual(['viewer', 'list_comments', 'create_comment', 'list_comments']);
    const apiUrl = new URL('https://api.github.com');
    expect(opened).toEqual([{ owner: 'octo', repo: 'site', token: 'ghs_token', apiUrl }]);
    expect(lines).toEqual(['Comment on pull request 7: created']);
  });

  test('names the commit and the run', async () => {
    const { body } = await told([reportWith()]);
    expect(body).toContain('<code>c0ffee0</code> · [run](<https://github.com/octo/site/actions/runs/4242>)');
  });

  test.each([
    ['a delivery that is not ready', [unprovenFile('page.html')], 'НЕ ГОТОВО'],
    ['a withdrawal', [withdrawn(reportWith())], 'withdrawn'],
  ])('is not made for %s, but kept true by it', async (_, reports, word) => {
    expect((await told(reports)).body).toBeNull();
    const standing = await earlier();
    expect(standing).toContain('](<https://octo.github.io');
    const { body } = await told(reports, { standing });
    expect(body).toContain(word);
    expect(body).not.toContain('](<https://octo.github.io');
  });

  test('is made for a batch of which a part is proven', async () => {
    const { body } = await told([unprovenFile('a.html'), provenFile('b.html')]);
    expect(body).toContain('[b.html](<https://octo.github.io/site/b.html>)');
    expect(body).toContain('| ❌ | a.html | it shows');
  });

  test('is not touched by a dry run', async () => {
    expect((await told([planned('page.html')], { standing: await earlier() })).calls).toEqual([]);
  });

  test('is left out where the run is about no pull request', async () => {
    const circumstances = { env: await envOf({}, 'push'), inputs: inputsWith({ token: '' }) };
    const { body, lines } = await told([reportWith()], circumstances);
    expect(body).toBeNull();
    expect(lines).toEqual(['No comment: the run is not about a pull request']);
  });

  test('of a fork is kept by the workflow that follows its own', async () => {
    const workflow_run = {
      event: 'pull_request',
      head_sha: 'c0ffee01',
      head_branch: 'page',
      head_repository: { owner: { login: 'human' } },
      pull_requests: [],
    };
    const env = await envOf({ repository: ours, workflow_run }, 'workflow_run');
    const list_pulls = [{ number: 9, state: 'open', head: { sha: 'c0ffee01' } }];
    const { body, lines } = await told([reportWith()], { env, answers: { list_pulls } });
    expect(body).toContain('<code>c0ffee0</code>');
    expect(lines).toEqual(['Comment on pull request 9: created']);
  });
});

describe('the step that a comment belongs to', () => {
  const markerOf = async (more: Partial<CommentInputs>): Promise<string> =>
    markerIn((await told([reportWith()], { inputs: inputsWith(more) })).body);

  test.each<[string, Partial<CommentInputs>, Partial<CommentInputs>]>([
    ['path', { path: 'docs/page.html' }, { path: 'docs/page.html', file: '' }],
    [
      'path, though the file is another',
      { path: 'docs/page.html', file: 'a' },
      { path: 'docs/page.html', file: 'b' },
    ],
    [
      'folder, as the step that withdraws it knows it',
      { path: 'docs/', file: 'a' },
      { path: 'docs/', file: '' },
    ],
    ['files', { file: 'a.html\n  b.html \n\n' }, { file: 'a.html\nb.html' }],
    ['link', { file: '', url: 'https://a.example/' }, { file: '', url: 'https://a.example/' }],
  ])('is known by its %s', async (_, one, other) => {
    expect(await markerOf(one)).toBe(await markerOf(other));
  });

  test.each<[string, Partial<CommentInputs>, Partial<CommentInputs>]>([
    ['paths', { path: 'a.html' }, { path: 'b.html' }],
    ['files', { file: 'a.html' }, { file: 'b.html' }],
    ['folders', { path: 'docs/1/' }, { path: 'docs/2/' }],
    ['links', { file: '', url: 'https://a.example/' }, { file: '', url: 'https://b.example/' }],
  ])('is told from another by its %s', async (_, one, other) => {
    expect(await markerOf(one)).not.toBe(await markerOf(other));
  });
});

describe('where no comment can be kept, the delivery stands', () => {
  const refused = failure('NO_PERMISSION', 403);

  test.each([failure('BAD_TOKEN', 401), refused, failure('NOT_FOUND', 404)])(
    '%s: one warning, what to add, and the two workflows',
    async (create_comment) => {
      const { lines } = await told([reportWith()], { answers: { create_comment } });
      expect(warnings(lines)).toEqual([
        `warning: No comment was kept on pull request 7, the delivery is what it is without it: ${create_comment.message}; add \`permissions: { pull-requests: write }\` to the job`,
      ]);
      expect(lines).toContain('# How a pull request from a fork gets its comment: two workflows');
      expect(lines).toContain('  workflow_run: { workflows: [Preview build], types: [completed] }');
    },
  );

  test('a fork’s run is told that it is one', async () => {
    const env = await onPull({ id: 2, full_name: 'human/site' });
    const { lines } = await told([reportWith()], { env, answers: { create_comment: refused } });
    expect(warnings(lines)).toEqual([
      "warning: No comment was kept on pull request 7, the delivery is what it is without it: it comes from human/site, and a fork's run gets a read-only token whatever is asked",
    ]);
    expect(lines).toContain('on: pull_request');
  });

  test('without a token nobody is asked', async () => {
    const { lines, opened } = await told([reportWith()], { inputs: inputsWith({ token: '' }) });
    expect(opened).toEqual([]);
    expect(warnings(lines)).toEqual([
      expect.stringContaining('without it: there is no token to comment with'),
    ]);
  });

  test.each<[string, Circumstances, string]>([
    ['a host that is down', { answers: { viewer: failure('HOST_ERROR', 502) } }, 'the host said 502'],
    [
      'an address that is none',
      { inputs: inputsWith({ 'api-url': 'http://x' }) },
      '`api-url` is no https address',
    ],
    ['an answer that is no list', { answers: { list_comments: {} } }, 'unexpected error'],
  ])('%s is warned of, without the two workflows', async (_, circumstances, said) => {
    const { lines } = await told([reportWith()], circumstances);
    expect(warnings(lines)).toEqual([expect.stringContaining(said)]);
    expect(lines).not.toContain('on: pull_request');
  });
});

test('the two workflows are valid, and trust nothing that a fork hands over', async () => {
  const { parseAllDocuments } = await import('yaml');
  const { TWO_WORKFLOWS } = await import('../../src/action/two-workflows.ts');
  const [build, preview] = TWO_WORKFLOWS.split(/\n(?=# \.github)/).map((text) =>
    parseAllDocuments(text)[0]?.toJS(),
  );
  expect(build).toMatchObject({ on: 'pull_request', permissions: { contents: 'read' } });
  expect(preview).toMatchObject({
    on: { workflow_run: { workflows: [build.name], types: ['completed'] } },
    permissions: { 'pull-requests': 'write' },
  });
  // Nothing of the fork's is checked out or run there.
  const steps: { uses?: string; run?: string }[] = preview.jobs.deliver.steps;
  expect(steps.map(({ uses, run }) => run ?? uses?.split('@')[0])).toEqual([
    'actions/download-artifact',
    'OWNER/screen-delivery',
  ]);
});
