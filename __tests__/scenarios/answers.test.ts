import { describe, expect, test } from '@jest/globals';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const answer = (status: number, message: string, headers = {}) => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify({
    message,
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
  }),
});

describe('an answer of GitHub that only a person can change ends the delivery at once', () => {
  test('an archived repository', async () => {
    const repository = await scenario.repository();
    const archived = answer(403, 'Repository was archived so is read-only.');
    scenario.intercept({ method: 'PUT', url: /contents/, times: 9 }, archived);
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { step: 'place', httpCode: 403, reason: /archived/, hint: /unarchive it/ });
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
  });

  test('an organization that asks for single sign-on', async () => {
    const repository = await scenario.repository();
    const sso = { 'x-github-sso': 'required; url=https://github.com/orgs/octo/sso' };
    const message = 'Resource protected by organization SAML enforcement.';
    scenario.intercept({ url: /api\.github\.com\/repos/, times: 9 }, answer(403, message, sso));
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 403,
      reason: /SAML/,
      hint: /authorize the token for the organization's single sign-on/,
    });
    expect(listRequests(scenario, /api\.github\.com/)).toHaveLength(1);
  });

  test('a push rule that forbids the name of the file', async () => {
    const repository = await scenario.repository();
    const rule = 'Repository rule violations found\n\nFile extension .html is restricted.';
    scenario.intercept({ method: 'PUT', url: /contents/, times: 9 }, answer(409, rule));
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 409,
      reason: /File extension/,
      hint: /push rule.*`path:`.*K2/,
    });
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
  });

  test('a repository that is blocked for legal reasons', async () => {
    const repository = await scenario.repository();
    const blocked = answer(451, 'Repository access blocked');
    scenario.intercept({ url: /api\.github\.com\/repos/, times: 9 }, blocked);
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K2' } });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 451,
      reason: /Repository access blocked/,
      hint: /set `repository:` to another one, or use channel: K3/,
    });
    expect(listRequests(scenario, /api\.github\.com/)).toHaveLength(1);
  });

  test('a call that GitHub no longer offers', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ url: /\/pages$/, times: 9 }, answer(410, 'This endpoint has been removed.'));
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 410,
      reason: /has been removed/,
      hint: /newest version of this tool/,
    });
  });
});

describe('a comment that GitHub refuses', () => {
  test.each([
    [403, 'Unable to create comment because issue is locked.', /locked/],
    [410, 'Issues has been disabled in this repository.', /disabled/],
  ])(
    'with HTTP %d is a warning with its reason, and the delivery stays ready',
    async (status, message, said) => {
      const repository = await scenario.repository();
      await repository.issues.openPullRequest('a change', 'feature');
      scenario.intercept({ method: 'POST', url: /\/comments$/, times: 9 }, answer(status, message));
      const repo = { full_name: repository.fullName };
      const pull_request = { number: 1, head: { sha: 'c0ffee', repo }, base: { repo } };
      const delivered = await scenario.deliver({
        repository,
        files,
        inputs: { ...inputs, comment: 'true' },
        event: { name: 'pull_request', payload: { pull_request, repository: repo } },
      });
      await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
      const warnings = delivered.stdout.split('\n').filter((line) => line.startsWith('::warning::'));
      expect(warnings).toEqual([expect.stringMatching(said)]);
      expect(warnings[0]).not.toContain('pull-requests: write');
    },
  );
});

test('a site that limits requests is asked again only after the time that it names', async () => {
  const repository = await scenario.repository();
  const busy = { status: 429, headers: { 'retry-after': '7' }, body: 'Too many requests' };
  scenario.intercept({ url: /github\.io\/.*[?&]v=\d+$/, times: 1 }, busy);
  const delivered = await scenario.deliver({ repository, files, inputs });
  await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  expect((delivered.report.took.wait ?? 0) + (delivered.report.took.verify ?? 0)).toBeGreaterThanOrEqual(
    7_000,
  );
});

test('a site that limits requests until the end names the limits of GitHub Pages', async () => {
  const repository = await scenario.repository();
  const busy = { status: 429, headers: { 'retry-after': '600' }, body: 'Too many requests' };
  scenario.intercept({ url: /github\.io\//, times: 999 }, busy);
  const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
  expectNotReady(delivered, { step: 'verify', httpCode: 429, reason: /HTTP 429/, hint: /10 builds an hour/ });
});

test('a deprecated call leaves nothing on the error output', async () => {
  const repository = await scenario.repository();
  const old = { deprecation: '@1764547200', sunset: 'Sun, 01 Mar 2026 00:00:00 GMT' };
  const alter = async <Answer extends { headers: Record<string, string> }>(
    real: Answer,
  ): Promise<Answer> => ({
    ...real,
    headers: { ...real.headers, ...old },
  });
  scenario.intercept({ url: /\/pages$/, times: 9 }, { alter });
  const delivered = await scenario.deliver({ repository, files, inputs });
  await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  expect(delivered.stderr).toBe('');
});

test('a release with 1,000 assets takes another tag, which the hint says', async () => {
  const repository = await scenario.repository();
  repository.addEarlierAssets('v1', 1_000);
  const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K2', tag: 'v1' } });
  expectNotReady(delivered, {
    step: 'place',
    reason: /file_count|assets/,
    hint: /^set `tag:` to another one, or use channel: K3 \(public to anyone with the link\)$/,
  });
});

test('the rate limit of GraphQL, which comes with HTTP 200, is waited out', async () => {
  const repository = await scenario.repository({ pages: { buildType: 'workflow' } });
  const limited = {
    status: 200,
    headers: JSON_TYPE,
    body: JSON.stringify({ errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] }),
  };
  scenario.intercept({ url: /\/graphql$/, times: 1 }, limited);
  const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
  expectNotReady(delivered, { step: 'check', reason: /commit by a job's own token starts no workflow/ });
  expect(listRequests(scenario, /graphql/)).toHaveLength(2);
});

describe('answers that pass', () => {
  const page = { status: 503, headers: { 'content-type': 'text/html' }, body: '<title>Unicorn!</title>' };

  test('are waited out, and the file is committed once', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'GET', url: /\/pages$/ }, { status: 304 });
    scenario.intercept({ method: 'GET', url: /\/git\/ref\// }, { ...answer(202, 'Accepted') });
    const later = {
      ...page,
      headers: { ...page.headers, 'retry-after': new Date(Date.now() + 90_000).toUTCString() },
    };
    scenario.intercept({ method: 'GET', url: /\/contents\// }, later);
    const alter = async <Answer extends { status: number }>(real: Answer): Promise<Answer> => ({
      ...real,
      status: 202,
    });
    const quickly = { message: 'Validation Failed', errors: ['was submitted too quickly'] };
    scenario.intercept(
      { method: 'PUT', url: /\/contents\// },
      { ...answer(422, ''), body: JSON.stringify(quickly) },
    );
    scenario.intercept({ method: 'PUT', url: /\/contents\//, skip: 1 }, { alter });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(delivered.stdout.match(/trying again in/g)).toHaveLength(5);
    expect(await repository.log()).toHaveLength(2);
    // Each made-up answer differs from GitHub's description.
    scenario.world.traffic.clear();
  });

  test('of GraphQL are waited out too: a part of the data is not all of it', async () => {
    const repository = await scenario.repository();
    const several = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [`out/${name}.html`, createPage(name)]),
    );
    const delivery = { repository, files: several, inputs: { ...inputs, file: 'out/*.html' } };
    expect((await scenario.deliver(delivery)).outputs.result).toBe('ready');
    const fault = 'Something went wrong while executing your query. This may be the result of a timeout.';
    const partial = { data: { repository: { object: null } }, errors: [{ message: fault }] };
    scenario.intercept({ url: /\/graphql$/ }, { ...answer(200, ''), body: JSON.stringify(partial) });
    const again = await scenario.deliver({ ...delivery, simulatedTime: true });
    expect(again.reports.map(({ ready }) => ready)).toEqual([true, true, true, true]);
  });
});

describe('a repository that was renamed', () => {
  const target = 'https://api.github.com/repositories/7';
  const moved = answer(301, 'Moved Permanently', { location: target });
  const renamed = { ...answer(200, ''), body: JSON.stringify({ id: 7, full_name: 'octo/renamed' }) };

  test.each(['K1', 'K2'])('is named by its new name, which the hint sets: %s', async (channel) => {
    const repository = await scenario.repository();
    scenario.intercept({ url: /api\.github\.com\/repos\//, times: 9 }, moved);
    scenario.intercept({ url: /api\.github\.com\/repositories\/7$/ }, renamed);
    const delivered = await scenario.deliver({ repository, files, inputs: { channel } });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 301,
      reason: /redirected: the repository octo\/demo-\d+ has moved, its name is octo\/renamed now/,
      hint: /^set `repository: octo\/renamed` if that is where it belongs$/,
    });
    expect(delivered.report.lines.UNKNOWN).toContain('nothing was published');
    expect(listRequests(scenario, /^(PUT|POST|PATCH) /)).toEqual([]);
  });

  test('during the delivery ends it without a second place for the file', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'PUT', url: /\/contents\//, times: 9 }, { ...moved, status: 307 });
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { step: 'place', httpCode: 307, reason: /has moved/, hint: /its new name/ });
    expect(delivered.report.lines.UNKNOWN).toContain('nothing was published');
  });

  test('in the middle of a push by git is named by its new name, which git does not tell', async () => {
    const repository = await scenario.repository();
    const { fullName } = repository;
    scenario.intercept({ url: /service=git-receive-pack/, times: 9 }, moved);
    scenario.intercept({ url: new RegExp(`api\\.github\\.com/repos/${fullName}$`), times: 9 }, moved);
    scenario.intercept({ url: /\/repositories\/7$/, times: 9 }, renamed);
    const delivered = await scenario.deliver({
      repository,
      files: { 'a.html': createPage('a'), 'b.html': createPage('b') },
      inputs: { ...inputs, file: '*.html' },
    });
    expect(delivered.reports.map(({ notReady }) => notReady)).toEqual(
      Array(2).fill(
        expect.objectContaining({
          step: 'place',
          httpCode: 301,
          reason: `reading the repository was redirected: the repository ${fullName} has moved, its name is octo/renamed now`,
          hint: 'set `repository: octo/renamed` if that is where it belongs',
        }),
      ),
    );
  });
});

test('a page in place of an answer says nothing about the site', async () => {
  const repository = await scenario.repository();
  const notFound = {
    status: 404,
    headers: { 'content-type': 'text/html' },
    body: '<title>Not found</title>',
  };
  scenario.intercept({ method: 'GET', url: /\/pages$/, times: 9 }, notFound);
  const delivered = await scenario.deliver({ repository, files, inputs });
  expectNotReady(delivered, {
    step: 'authorize',
    httpCode: 404,
    reason: /a page came instead of an answer of GitHub's API/,
    hint: /`api-url:` and the proxy/,
  });
  scenario.world.traffic.clear();
});

test('a page that GitHub renders names the limit of requests that keeps it from being proven', async () => {
  const repository = await scenario.repository();
  const limit = async <Answer>(real: Answer): Promise<Answer> => {
    scenario.world.rateLimits.setLeft(repository, 0);
    return real;
  };
  scenario.intercept({ method: 'PUT', url: /\/contents\// }, { alter: limit });
  const marked = { 'page.md': '# A page with marker-42\n' };
  const delivered = await scenario.deliver({
    repository,
    files: marked,
    inputs: { ...inputs, marker: 'marker-42' },
    simulatedTime: true,
  });
  expectNotReady(delivered, {
    step: 'wait',
    reason: /API rate limit exceeded/,
    hint: /^GitHub limits this token/,
  });
});

test('an empty repository has nothing to withdraw, and takes several files only after a first commit', async () => {
  const repository = await scenario.repository({ empty: true });
  const withdrawal = { channel: 'K1', path: 'previews/', operation: 'withdraw' };
  const withdrawn = await scenario.deliver({ repository, inputs: withdrawal });
  expect(withdrawn.report.lines.RESULT).toMatch(/^ГОТОВО, nothing to withdraw/);
  const several = { 'out/a.html': createPage('a'), 'out/b.html': createPage('b') };
  const refused = await scenario.deliver({
    repository,
    files: several,
    inputs: { ...inputs, file: 'out/*' },
  });
  expect(refused.reports.map(({ notReady }) => notReady?.hint)).toEqual(
    Array(2).fill(expect.stringContaining('push a first one')),
  );
});

describe('a list of files that is not what the branch holds refuses the delivery, and nothing is changed', () => {
  const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const site: Record<string, string> = { 'dist/index.html': createPage() };
  const folder = { channel: 'K1', file: 'dist/', path: 'p/1/' };
  const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`out/${name}.html`, createPage(name)]));

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a folder', site, folder],
    ['a folder with `keep`', site, { ...folder, keep: '1' }],
    ['a withdrawn folder', {}, { channel: 'K1', operation: 'withdraw', path: 'p/1/' }],
    ['many files', many, { channel: 'K1', file: 'out/*.html', path: 'p/1/' }],
  ])('%s', async (_, given, inputs) => {
    const theirs = { 'p/1/index.html': 'theirs', 'p/1/a.html': 'theirs' };
    const repository = await scenario.repository({ files: theirs });
    for (const sha of [undefined, EMPTY_TREE]) {
      const alter = ({ body, ...real }: { status: number; body: Buffer }) => ({
        ...real,
        body: JSON.stringify({ ...JSON.parse(body.toString()), tree: [], ...(sha && { sha }) }),
      });
      scenario.intercept({ url: /git\/trees\/\w+\?/, times: 9 }, { alter });
      const head = await repository.head();
      const delivered = await scenario.deliver({ repository, files: given, inputs });
      expect(delivered.reports.map(({ notReady }) => notReady?.code)).toContain('HOST_ERROR');
      expect(delivered.report.notReady?.reason).toMatch(
        /^GitHub's list of the branch's files is that of another tree/,
      );
      expect(await repository.head()).toBe(head);
    }
  });
});
