import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { InterceptedReply } from '../world/server/interceptions.ts';
import type { HostRequest } from '../world/server/messages.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage('new') };
const ever = 10_000;

describe('a CDN that keeps a 404 for ten minutes', () => {
  type Repository = Awaited<ReturnType<typeof scenario.repository>>;
  const first = { 'page.html': createPage('first') };
  const inputs = { channel: 'K1' };
  /** A delivery that waits for a site on which it is not live yet. */
  async function waiting(repository: Repository) {
    repository.pages.live = false;
    const asked = scenario.intercept({ method: 'GET', url: /page\.html\?v=/ }, { alter: (real) => real });
    let pid = 0;
    const onStart = (started: number): void => {
      pid = started;
    };
    const step = scenario.deliver({ repository, files: first, inputs: { ...inputs, timeout: '5' }, onStart });
    while (asked.hits === 0) await setTimeout(20);
    return { step, stop: () => process.kill(pid, 'SIGTERM') };
  }

  test.each<[string, (repository: Repository) => Promise<unknown>]>([
    [
      'ran out of time',
      async (repository) => {
        repository.pages.live = false;
        await scenario.deliver({ repository, files: first, inputs, simulatedTime: true });
        repository.pages.live = true;
      },
    ],
    [
      'was canceled while it waited',
      async (repository) => {
        const { step, stop } = await waiting(repository);
        stop();
        await step;
        repository.pages.live = true;
      },
    ],
    [
      'still waits',
      async (repository) => {
        const { step } = await waiting(repository);
        // It goes on waiting until the next one has replaced its bytes.
        const alter = <Answer>(real: Answer): Answer => {
          repository.pages.live = true;
          return real;
        };
        scenario.intercept({ method: 'PUT', url: /contents\/page\.html/ }, { alter });
        return { step };
      },
    ],
    [
      'was withdrawn',
      async (repository) => {
        await scenario.deliver({ repository, files: first, inputs });
        await scenario.deliver({
          repository,
          files: {},
          inputs: { ...inputs, operation: 'withdraw', file: '', path: 'page.html' },
        });
      },
    ],
  ])('keeps none of ours where the delivery before %s: the next one is ready', async (_, before) => {
    const repository = await scenario.repository({ pages: { caches404: true, purges: false } });
    const earlier = await before(repository);
    const delivered = await scenario.deliver({ repository, files, inputs });
    const url = `${repository.pages.url}page.html`;
    expect(delivered.outputs).toMatchObject({ url, result: 'ready' });
    // No 404: at most the copy from before, which is named.
    const isOld = /still answered an older copy/.test(delivered.report.lines.UNKNOWN);
    const shown = createPage(isOld ? 'first' : 'new');
    expect((await scenario.fetchPublic(url)).toString()).toBe(shown);
    // Of two at once, the one whose bytes the branch no longer holds is not ready.
    const other = await (earlier as { step?: ReturnType<typeof scenario.deliver> } | undefined)?.step;
    if (other !== undefined) expect(other.outputs).toMatchObject({ result: 'not-ready', url: '' });
  });

  test('may keep one that somebody else asked for: not ready, and it is told how long', async () => {
    const repository = await scenario.repository();
    const headers = { 'cache-control': 'max-age=600', age: '120' };
    scenario.intercept(
      { method: 'GET', url: /github\.io\/[^?]*page\.html$/, times: ever },
      { status: 404, headers },
    );
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, {
      step: 'verify',
      httpCode: 404,
      reason: /without \?v= .*HTTP 404 from a cache, 120 s old, which may keep it for up to 8 minutes/,
      hint: /try again in 8 minutes/,
    });
  });
});

describe('what the branch holds in the end', () => {
  test.each<[string, string | null]>([
    ['removed the file', null],
    ['replaced the file', createPage('theirs')],
  ])('is not ours where a person %s while it was proven: not ready', async (_, content) => {
    const repository = await scenario.repository();
    const alter = async <Answer>(real: Answer): Promise<Answer> => {
      repository.pages.startsBuilds = false;
      await repository.commit('page.html', content, 'My own change');
      return real;
    };
    scenario.intercept({ method: 'GET', url: /github\.io\/[^?]*page\.html$/ }, { alter });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expectNotReady(delivered, {
      step: 'verify',
      reason: /somebody removed or replaced on the branch main: page\.html/,
    });
  });

  test('is not ours where another folder with keep: 1 removed ours while it was proven: not ready', async () => {
    const repository = await scenario.repository();
    const site = (name: string) => ({ [`${name}/index.html`]: createPage(name) });
    const inputs = { channel: 'K1', nojekyll: 'true' };
    let other: Promise<unknown> | undefined;
    const alter = async <Answer>(real: Answer): Promise<Answer> => {
      repository.pages.startsBuilds = false;
      other = scenario.deliver({
        repository,
        files: site('b'),
        inputs: { ...inputs, file: 'b/', path: 'previews/b/', keep: '1', timeout: '5' },
      });
      while ((await repository.read('previews/a/index.html')) !== null) await setTimeout(50);
      return real;
    };
    scenario.intercept({ method: 'GET', url: /github\.io\/[^?]*previews\/a\/$/ }, { alter });
    const delivered = await scenario.deliver({
      repository,
      files: site('a'),
      inputs: { ...inputs, file: 'a/', path: 'previews/a/' },
    });
    await other;
    expectNotReady(delivered, { step: 'verify', reason: /removed or replaced .*previews\/a\/index\.html/ });
  });
});

describe('the address as it is handed over, without ?v=', () => {
  const answers: { story: string; answer: InterceptedReply; reason: RegExp }[] = [
    { story: 'a 404', answer: { status: 404 }, reason: /without \?v= was not proven.*HTTP 404/ },
    {
      story: 'another page',
      answer: { status: 200, body: createPage('other') },
      reason: /without \?v= was not proven/,
    },
    {
      story: 'a redirect to http',
      answer: { status: 301, headers: { location: 'http://octo.github.io/x' } },
      reason: /not https/,
    },
    {
      story: 'a redirect to this machine',
      answer: { status: 301, headers: { location: 'https://127.0.0.1/x' } },
      reason: /loopback/,
    },
    {
      story: 'a page to sign in',
      answer: { status: 302, headers: { location: '/login?return_to=x' } },
      reason: /login page/,
    },
  ];
  test.each(answers)('answers with $story: not ready', async ({ answer, reason }) => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'GET', url: /github\.io\/[^?]*page\.html$/, times: ever }, answer);
    const inputs = { channel: 'K1' };
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', reason });
  });

  test.each([
    ['page', 'page.html', createPage('new')],
    ['picture', 'chart.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ])(
    'answers with the %s as a download: not ready, because no browser would show it',
    async (_, name, text) => {
      const repository = await scenario.repository();
      const headers = { 'content-disposition': 'attachment' };
      scenario.intercept(
        { method: 'GET', url: /github\.io\/.*(?:page\.html|chart\.svg)/, times: ever },
        { alter: (real) => ({ ...real, headers: { ...real.headers, ...headers } }) },
      );
      const inputs = { channel: 'K1' };
      const delivered = await scenario.deliver({
        repository,
        files: { [name]: text },
        inputs,
        simulatedTime: true,
      });
      expectNotReady(delivered, {
        step: 'verify',
        reason: /as a download/,
        hint: /Content-Type: text\/html/,
      });
    },
  );

  test('leads to another host with the same bytes: UNKNOWN names it', async () => {
    const repository = await scenario.repository();
    scenario.world.host('www.octo-pages.com', () => ({
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: createPage('new'),
    }));
    const headers = { location: 'https://www.octo-pages.com/page.html' };
    scenario.intercept({ url: /github\.io\/.*page\.html/, times: ever }, { status: 301, headers });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage('new'),
      unknown: /^whether www\.octo-pages\.com, where the address leads to, is a part of the site/,
    });
  });

  test('answers browsers with the older, compressed copy of a cache: not ready', async () => {
    const repository = await scenario.repository();
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
    const alter = <Answer>(real: Answer, request: HostRequest) =>
      /gzip/.test(String(request.headers['accept-encoding']))
        ? { status: 200, headers, body: gzipSync(createPage('older')) }
        : real;
    scenario.intercept({ method: 'GET', url: /github\.io\/.*page\.html/, times: ever }, { alter });
    const inputs = { channel: 'K1' };
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', reason: /answers browsers HTTP 200 with other content/ });
  });

  test.each([2, 3, 4])('is wrong on one of %i cache nodes: not ready', async (nodes) => {
    const repository = await scenario.repository();
    let turn = 0;
    scenario.intercept(
      { method: 'GET', url: /github\.io\/[^?]*page\.html$/, times: ever },
      {
        alter: (real) => {
          turn += 1;
          return turn % nodes === 0 ? { status: 404, body: '' } : real;
        },
      },
    );
    const inputs = { channel: 'K1' };
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', reason: /not proven/ });
  });
});

describe('a page that only the marker proves', () => {
  const source = { 'notes.md': `# ${MARKER}\n` };
  const inputs = { channel: 'K1', marker: MARKER };

  test('is ready once it is built from our commit, and again when the step runs again', async () => {
    const repository = await scenario.repository();
    for (let run = 0; run < 2; run += 1) {
      const delivered = await scenario.deliver({ repository, files: source, inputs });
      expect(delivered.report.notReady).toBeNull();
      expect(delivered.report.lines.UNKNOWN).toMatch(/other bytes than the file/);
    }
  });

  test('is not ready where the site still shows an older one, in the first run and in the second', async () => {
    const repository = await scenario.repository();
    await scenario.deliver({ repository, files: source, inputs });
    repository.pages.live = false;
    const changed = { 'notes.md': `# ${MARKER}\n\nchanged\n` };
    for (let run = 0; run < 2; run += 1) {
      const delivered = await scenario.deliver({ repository, files: changed, inputs, simulatedTime: true });
      expectNotReady(delivered, { step: 'verify', reason: /not proven/ });
    }
  });

  test("is not ready where somebody else's page with the same marker has taken its place", async () => {
    const repository = await scenario.repository();
    const theirs = `# ${MARKER}\n\ntheirs\n`;
    const alter = async <Answer>(real: Answer): Promise<Answer> => {
      await repository.commit('notes.md', theirs, 'Write my own notes');
      return real;
    };
    scenario.intercept({ method: 'PUT', url: /contents\/notes\.md/ }, { alter });
    const delivered = await scenario.deliver({ repository, files: source, inputs });
    expectNotReady(delivered, {
      step: 'verify',
      reason: /somebody removed or replaced .*notes\.md/,
      hint: /try again/,
    });
    expect((await repository.read('notes.md'))?.toString()).toBe(theirs);
  });
});

describe('a link', () => {
  const url = 'https://preview.agent-host.com/share/42';
  const inputs = { channel: 'K4', url, marker: MARKER };
  const play = (answer: Parameters<typeof scenario.world.host>[1]) =>
    scenario.world.host('preview.agent-host.com', answer);
  const deliver = async (more: object = {}) =>
    scenario.deliver({ repository: await scenario.repository(), inputs, simulatedTime: true, ...more });

  test('that opens once is not ready', async () => {
    let asked = 0;
    play(() => {
      asked += 1;
      return asked === 1 ? { status: 200, body: createPage() } : { status: 410, body: 'used' };
    });
    expectNotReady(await deliver(), { step: 'verify', httpCode: 410, reason: /not proven/ });
  });

  test('behind a 401 that its own cookie opens is not ready', async () => {
    play(({ headers }) =>
      headers.cookie === undefined
        ? { status: 401, headers: { 'set-cookie': 'open=1' }, body: 'wait' }
        : { status: 200, body: createPage() },
    );
    expectNotReady(await deliver(), { step: 'verify', httpCode: 401, reason: /not proven/ });
  });

  test('to a page that asks to sign in is not ready, although it has the marker', async () => {
    const form = '<form><input type="password"></form>';
    play(() => ({ status: 200, body: `<title>Вход</title>to see ${MARKER}${form}` }));
    expectNotReady(await deliver(), { step: 'verify', httpCode: 200, reason: /a page to sign in/ });
  });

  test('that shows browsers the page of a tunnel first is not ready where the file is given', async () => {
    const warning = `<h1>You are about to connect to a developer tunnel</h1>${MARKER}`;
    play(({ headers }) => ({
      status: 200,
      body: headers['user-agent']?.startsWith('Mozilla/') ? warning : createPage(),
    }));
    const delivered = await deliver({ files: { 'page.html': createPage() } });
    expectNotReady(delivered, {
      step: 'verify',
      httpCode: 200,
      reason: /answers browsers HTTP 200 with other/,
    });
  });

  test('whose host adds a banner to the file is ready, and UNKNOWN names it', async () => {
    const banner = '<aside>Hosted by Octo</aside><script>track()</script>';
    play(() => ({ status: 200, body: createPage().replace('</title>', `</title>${banner}`) }));
    const delivered = await deliver({ files: { 'page.html': createPage() } });
    expect(delivered.outputs).toMatchObject({ result: 'ready', url });
    expect(delivered.report.lines.UNKNOWN).toMatch(/has added .*<aside>, <script>/);
  });

  test('to a page that shows the marker nowhere is not ready', async () => {
    const title = `<title>${MARKER}</title><meta property="og:title" content="${MARKER}">`;
    const body = `<img alt="${MARKER}"><p hidden>${MARKER}</p><template>${MARKER}</template><p>Open the app</p>`;
    play(() => ({ status: 200, body: `<html><head>${title}</head><body>${body}</body></html>` }));
    expectNotReady(await deliver(), {
      step: 'verify',
      httpCode: 200,
      reason: /only where a page does not show it/,
    });
  });

  test('to a page that repeats the address of a redirect is not ready', async () => {
    play(({ url: asked }) =>
      asked === url
        ? { status: 302, headers: { location: `/search?q=${MARKER}` } }
        : { status: 200, body: `Nothing found for ${MARKER}` },
    );
    expectNotReady(await deliver(), { step: 'verify', httpCode: 200, reason: /in its own address/ });
  });

  test('with a marker that the link itself has is refused before any request', async () => {
    const delivered = await deliver({ inputs: { ...inputs, marker: 'share/42' } });
    expectNotReady(delivered, { step: 'check', httpCode: null, reason: /`marker` is a part of the link/ });
    expect(scenario.world.traffic.lines()).toEqual([]);
  });

  test('with an encoding that nobody asked for is not ready', async () => {
    play(() => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: createPage() }));
    expectNotReady(await deliver(), { step: 'verify', httpCode: 200, reason: /Content-Encoding/ });
  });

  test('that opens twice, some seconds apart, is ready', async () => {
    play(() => ({ status: 200, body: createPage() }));
    await expectReady(scenario, await deliver(), {
      channel: 'K4',
      shows: createPage(),
      unknown: /^whether the link still opens later.*only the marker was seen$/,
    });
  });
});
