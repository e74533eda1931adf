import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { composeOutputs } from '../../src/action/outputs.ts';
import { composeSummary } from '../../src/action/overview.ts';
import { createFilebinPublisher } from '../../src/channels/filebin/publish.ts';
import { createNativeChannel } from '../../src/channels/native.ts';
import { createPagesActions } from '../../src/channels/pages/publish.ts';
import { createReleasePublisher } from '../../src/channels/release/publish.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import { findLiteralFiles } from '../../src/delivery/find-files.ts';
import { type Report, reportText } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { createGitHubClient } from '../../src/github/api/client.ts';
import { putFile } from '../../src/github/api/git-data.ts';
import { loadRepositoryContext } from '../../src/github/api/repository.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { INPUTS } from '../../src/request/inputs.ts';
import { parseRequest, refuseSecretInputs } from '../../src/request/parse-request.ts';
import { rawInputs, runContextWith } from '../delivery/builders.ts';
import { absent, FakeGitHub, failure } from '../github/fake-github.ts';
import { FakeScreen } from '../support/fake-screen.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import { computeBlobSha } from '../world/git/bare-repository.ts';

const BYTES = '<!doctype html><p>It works</p>';
const SITE = {
  html_url: 'https://octo.github.io/site/',
  build_type: 'legacy',
  source: { branch: 'main', path: '/' },
  public: true,
};
const PAGE = 'https://octo.github.io/site/page.html';

interface Stage {
  readonly inputs?: Partial<RawInputs>;
  /** `null`: there is no token. */
  readonly api?: Record<string, unknown> | null;
  readonly answer?: (request: Seen) => Scripted | Error | undefined;
  readonly bytes?: string;
}

/** A repository with a site that does not hold the file, whose build is still going on. */
const ANSWERS = {
  get_repository: { private: false },
  pages_site: SITE,
  get_ref: { object: { sha: 'head' } },
  // Nothing before the write, and after the proof what was written.
  get_file: (_: unknown, nth: number) =>
    nth === 1 ? absent : { type: 'file', sha: computeBlobSha(Buffer.from(BYTES)) },
  commits_of_path: [],
  put_file_le1mb: { commit: { sha: 'c0ffee' } },
  pages_latest: { status: 'building', commit: 'c0ffee' },
};

/** The whole story with its real channels, on a scripted API and scripted hosts. */
async function delivering({ inputs = {}, api = {}, answer = () => ({ status: 404 }), bytes = BYTES }: Stage) {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'page.html'), bytes);
  const host = new FakeHttp(answer);
  const ports = fakePorts(host.http);
  const raw = rawInputs({ file: 'page.html', channel: 'K1', ...inputs });
  const request = parseRequest(raw, runContextWith({ folder }));
  const github = api === null ? null : new FakeGitHub({ ...ANSWERS, ...api });
  const [report] = await deliver(request, {
    ...ports,
    findFiles: findLiteralFiles,
    screen: new FakeScreen(),
    openRepository: async (query) => {
      const repository = await loadRepositoryContext(github, query);
      const channels = {
        K1: createPagesActions(request, { github, repository }, ports).publish,
        K2: createReleasePublisher(request, { github, repository }, ports),
        K3: createFilebinPublisher(request, ports),
        K4: createNativeChannel(request.url),
      };
      return { repository, channels };
    },
  });
  if (report === undefined) throw new Error('there is no report');
  return { report, host, ports, github, elapsed: ports.clock.now() - NOON };
}

/** Everything that is handed over, as one text. */
const everything = (report: Report): string =>
  [
    reportText(report),
    JSON.stringify(report),
    JSON.stringify(composeOutputs([report])),
    composeSummary([report]),
  ].join('\n');

function expectNotReady(report: Report): void {
  expect(report).toMatchObject({ ready: false, url: null });
  expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО → /);
  expect(report.lines.UNKNOWN).not.toBe('');
}

const passed = ({ gates }: Report): boolean[] => gates.map((gate) => gate.passed);

describe('the errors of protocol section 7', () => {
  test('file write does not return HTTP 200 or 201: the push gate G1 fails, work is not done', async () => {
    const refused = await delivering({ api: { put_file_le1mb: failure('FORBIDDEN_BY_RULE', 409) } });
    expectNotReady(refused.report);
    expect(refused.report.notReady).toMatchObject({ step: 'place', httpCode: 409 });
    expect(passed(refused.report)).toEqual([false, false, false, false]);

    const host = new FakeHttp(() => ({ status: 202, body: { commit: { sha: 'c0ffee' } } }));
    const apiUrl = new URL('https://api.github.com');
    const github = createGitHubClient(
      { apiUrl, token: 't', repository: { owner: 'octo', repo: 'site' } },
      fakePorts(host.http),
    );
    const write = {
      branch: 'main',
      path: 'page.html',
      message: 'ADD',
      content: Buffer.from('x'),
      replaces: null,
    };
    await expect(putFile(github, write)).rejects.toMatchObject({
      httpCode: 202,
    });
  });

  test('pages build status is errored: its error field is read and reported', async () => {
    const error = { message: 'bad front matter in page.html' };
    const { report } = await delivering({
      api: { pages_latest: { status: 'errored', commit: 'c0ffee', error } },
    });
    expectNotReady(report);
    expect(report.notReady).toMatchObject({ code: 'BUILD_ERRORED', step: 'wait' });
    expect(report.lines.RESULT).toContain('bad front matter in page.html');
  });

  test('pages build not built within 240 s: HTTP code and failing step, the result is never faked', async () => {
    const { report, github, elapsed } = await delivering({});
    expectNotReady(report);
    expect(report.notReady).toMatchObject({ code: 'BUILD_TIMEOUT', step: 'wait', httpCode: 404 });
    expect(report.lines.RESULT).toContain('(step wait, HTTP 404)');
    expect(github?.sent('pages_latest')).toHaveLength(48);
    expect(elapsed).toBe(240_000);
  });

  test.each([
    ['does not answer 200', { status: 503 }, 503],
    ['lacks the marker', { body: 'another page' }, 200],
  ])('final URL %s: gate G3 fails', async (_, answer, httpCode) => {
    const { report } = await delivering({
      inputs: { marker: 'It works' },
      api: { pages_latest: { status: 'built', commit: 'c0ffee' } },
      answer: () => answer,
    });
    expectNotReady(report);
    expect(report.notReady).toMatchObject({ code: 'NOT_PROVEN', step: 'verify', httpCode });
    expect(passed(report)).toEqual([true, true, false, false]);
  });

  test('K3 POST does not return 201: gate G1 fails', async () => {
    const { report } = await delivering({
      inputs: { channel: 'K3' },
      api: null,
      answer: () => ({ status: 200, body: '{}' }),
    });
    expectNotReady(report);
    expect(report.notReady).toMatchObject({ step: 'place', httpCode: 200 });
    expect(passed(report)).toEqual([false, false, false, false]);
  });

  test('no network: an honest statement, the file stays attached by its path, UNKNOWN is noted', async () => {
    const { report } = await delivering({
      inputs: { channel: 'K3' },
      api: null,
      answer: () => new DeliveryError('NO_NETWORK', "filebin.net can't be reached", { retryable: true }),
    });
    expectNotReady(report);
    expect(report.lines.RESULT).toContain("the protocol can't be executed, there is no network");
    expect(report.lines.UNKNOWN).toContain('the file itself is still at page.html, sha256 ');
  });

  test.each([
    'sandbox:/mnt/data/page.html',
    '/mnt/data/page.html',
    'http://files.octo.dev/x',
    'https://127.0.0.1/x',
    'https://sandbox.internal/x',
  ])('K4 link %s is not an external https URL: an honest refusal instead of a link', (url) => {
    const raw = rawInputs({ channel: 'K4', url, marker: 'It works' });
    expect(() => parseRequest(raw, runContextWith())).toThrow(
      expect.objectContaining({ code: 'NOT_EXTERNAL', message: expect.not.stringContaining(url) }),
    );
  });
});

describe('the prohibitions of protocol section 7', () => {
  test('1. sandbox or local links are never a delivery, not even behind a redirect', async () => {
    const { report, host } = await delivering({
      inputs: { channel: 'K4', file: '', url: 'https://files.octo.dev/x', marker: 'It works' },
      api: null,
      answer: () => ({ status: 302, headers: { location: 'https://169.254.169.254/latest/meta-data' } }),
    });
    expectNotReady(report);
    expect(report.notReady?.code).toBe('NOT_EXTERNAL');
    expect(host.seen).toHaveLength(1);
  });

  test('2. no URL is announced before VERIFY passes: not in the report, outputs, summary or log', async () => {
    const before = await delivering({});
    expect(everything(before.report)).not.toMatch(/https?:/);
    expect(before.ports.logger.lines.join('\n')).not.toMatch(/https?:/);

    const after = await delivering({ answer: () => ({ body: BYTES }) });
    expect(after.report).toMatchObject({ ready: true, url: PAGE });
    expect(composeOutputs([after.report]).url).toBe(PAGE);
    expect(after.ports.logger.lines.join('\n')).not.toContain(PAGE);
  });

  test('3. a secret goes into no file, commit, bin, report or log', async () => {
    const token = 'ghs_0123456789abcdef';
    const inFile = await delivering({ inputs: { token }, bytes: `<p>${token}</p>` });
    expect(inFile.report.notReady?.code).toBe('BAD_FILE');
    expect([inFile.host.seen, inFile.github?.calls]).toEqual([[], []]);
    expect(everything(inFile.report)).not.toContain(token);

    const toBin = await delivering({
      inputs: { token, channel: 'K3' },
      answer: ({ method }) => (method === 'POST' ? { status: 201, body: {} } : { body: BYTES }),
    });
    expect(toBin.report.ready).toBe(true);
    expect(JSON.stringify(toBin.host.seen)).not.toContain(token);

    const inMessage = rawInputs({ file: 'page.html', token, message: `with ${token}` });
    const refusal = refuseSecretInputs(inMessage, [], fakePorts().logger);
    await expect(refusal).rejects.toThrow('input `message` holds the token');
  });

  test('4. files of others are never overwritten; only the delivered path is changed', async () => {
    const theirs = { get_file: { type: 'file', sha: '0ld' } };
    const commits_of_path = [{ sha: 'last', commit: { message: 'Add my page' } }];
    const refused = await delivering({ api: { ...theirs, commits_of_path } });
    expect(refused.report.notReady).toMatchObject({ code: 'NOT_OURS', step: 'place' });
    expect(refused.github?.sent('put_file_le1mb')).toEqual([]);

    const placed = await delivering({ answer: () => ({ body: BYTES }) });
    expect(placed.github?.sent('put_file_le1mb')).toMatchObject([{ path: 'page.html', branch: 'main' }]);
  });

  test.each([
    ['ready', { answer: () => ({ body: BYTES }) }],
    ['not ready', {}],
  ] as const)('5. a %s report says what was verified, never that it should work', async (_, stage) => {
    const { report } = await delivering(stage);
    expect(reportText(report)).not.toMatch(/should (be|work|open)|probably|presumably|likely/i);
  });

  test('6. tokens are never collected through a form of the tool: the input for it is never sent to a page', async () => {
    const asking = Object.keys(INPUTS).filter((name) => /token|password|secret|login|credential/i.test(name));
    expect(asking).toEqual(['token', 'allow-secret']);
    expect(INPUTS['allow-secret'].description).toMatch(/^Fingerprints/);
    const token = 'ghs_0123456789abcdef';
    const { host } = await delivering({ inputs: { token }, answer: () => ({ body: BYTES }) });
    expect(host.seen.length).toBeGreaterThan(0);
    for (const { headers, url } of host.seen) expect(JSON.stringify([headers, url])).not.toContain(token);
  });
});
