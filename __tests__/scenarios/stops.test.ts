import { expect, test } from '@jest/globals';
import { stoppedError } from '../../src/errors.ts';
import { LARGE_CONTENT } from '../faults/delivery-kinds.ts';
import type { RequestMatch } from '../world/server/interceptions.ts';
import { LOGINS } from '../world/tokens.ts';
import { refused, requestsOf, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const NOTHING = 'nothing was published';
const PART = 'whether a part of the file has arrived';
const POSTED = { method: 'POST', url: /filebin/ };
const DRAFTED = { method: 'POST', url: /\/releases$/ };
const IN_BIN = 'it is published: HTTP 201, bin bin-of-play';
const COMMIT = String.raw`it is published: commit [0-9a-f]{40}; branch main, path page\.html\)`;

const deliver = async (channel: string, stop: AbortController, page: string | Buffer = createPage()) => {
  // The wait lasts until the host gets a request about the build.
  const repository = await play.repository({ pages: { live: false } });
  const inputs = { channel, tag: 'files-1', bin: `bin-of-${repository.name}`, 'self-contained': 'off' };
  // Without a token, the tool asks its user, who never answers.
  const flow = channel === 'flow' ? { channel: 'K1', token: '', 'client-id': 'Iv1.0123' } : {};
  play.world.deviceUser.script = ['pending'];
  const files = { 'page.html': page };
  return play.deliver({ repository, signal: stop.signal, files, inputs: { ...inputs, ...flow } });
};

/** The hanging host, the step, and what UNKNOWN reports as placed. */
test.each<[string, string, RequestMatch, string, string]>([
  ['the API', 'K2', { url: /api\.github\.com\/repos\/[^/]+\/[^/]+$/ }, 'authorize', NOTHING],
  ['the commit', 'K1', { method: 'PUT', url: /contents/ }, 'place', `${PART} \\(branch main, path`],
  ['the page', 'K1', { url: /github\.io/ }, 'wait', COMMIT],
  ['the build’s status', 'K1', { url: /builds\/latest/ }, 'wait', COMMIT],
  ['the release', 'K2', DRAFTED, 'place', 'perhaps a draft of the release files-1'],
  ['an upload', 'K2', { method: 'POST', url: /uploads\.github\.com/ }, 'place', NOTHING],
  [
    'the download',
    'K2',
    { url: /release-assets/ },
    'verify',
    String.raw`it is published: asset \d+ \(page\.html\) holds these bytes; release files-1`,
  ],
  ['the bin', 'K3', POSTED, 'place', `${PART} \\(bin bin-of-play-\\d+, name`],
  ['the lock of the bin', 'K3', { method: 'PUT', url: /filebin/ }, 'verify', IN_BIN],
  ['the bin’s page', 'K3', { method: 'GET', url: /filebin\.net\/[^/]+\/page/ }, 'verify', IN_BIN],
  ['a code', 'flow', { url: /device\/code$/ }, 'authorize', NOTHING],
  ['a poll', 'flow', { url: /access_token$/ }, 'authorize', NOTHING],
])('a stop while a host hangs at %s (%s) is reported at once', async (_, channel, match, step, left) => {
  const stop = new AbortController();
  const hanging = play.intercept(match, { fault: 'hang' });
  const delivering = deliver(channel, stop);
  while (hanging.hits === 0) await new Promise(setImmediate);
  stop.abort(stoppedError());
  const says = new RegExp(`^${step}\\b.*: the delivery was stopped before it was finished → run it again: `);
  const { report } = await refused(delivering, says);
  expect(report.lines.UNKNOWN).toMatch(new RegExp(left));
});

test.each<[string, string, string | Buffer, RequestMatch, string, number]>([
  ['the settings are read', 'K1', createPage(), { url: /\/pages$/ }, NOTHING, 1],
  ['method A has arrived', 'K1', createPage(), { method: 'PUT', url: /contents/ }, PART, 2],
  ['method B has sent its blob', 'K1', LARGE_CONTENT, { url: /git\/blobs/ }, NOTHING, 1],
  ['method B has moved the branch', 'K1', LARGE_CONTENT, { method: 'PATCH', url: /git\/refs/ }, PART, 2],
  ['the bin has it', 'K3', createPage(), POSTED, 'it is published: bin .* holds these', 1],
])('a stop when %s (%s): the report names what was placed', async (...row) => {
  const [, channel, page, match, says, commits] = row;
  const stop = new AbortController();
  play.meanwhile(match, () => stop.abort(stoppedError()));
  const { report, repository } = await deliver(channel, stop, page);
  expect(report.notReady?.code).toBe('ABORTED');
  expect(report.lines.UNKNOWN).toMatch(new RegExp(says));
  expect(await repository.log()).toHaveLength(commits);
});

test('a stop in any pause before a new release is published leaves no draft, and nothing is published', async () => {
  let isReady = false;
  for (let nth = 1; !isReady; nth += 1) {
    const stop = new AbortController();
    const repository = await play.repository({ pages: false });
    let pauses = 0;
    const { report } = await play.deliver({
      ...{ repository, files: { 'a.zip': 'PK a', 'b.zip': 'PK b' }, signal: stop.signal },
      inputs: { channel: 'K2', tag: 'v1', file: 'a.zip\nb.zip' },
      onPause: () => {
        pauses += 1;
        const [release] = repository.releases();
        if (pauses === nth && release?.draft !== false) stop.abort(stoppedError());
      },
    });
    isReady = report.ready;
    if (isReady) expect(nth).toBeGreaterThan(2);
    else expect([nth, report.lines.UNKNOWN, repository.releases()]).toEqual([nth, NOTHING, []]);
  }
});

const POST_PAGES = { method: 'POST', url: /\/pages$/ };
const UNKNOWN = 'it is unknown whether Pages is on for it';
test.each([
  ['before the request', 'the request to switch Pages on was not sent', 'run it again', ''],
  ['while the host hangs', UNKNOWN, 'check Settings', ', perhaps its Pages site'],
  ['after the host did it', UNKNOWN, 'check Settings', ', perhaps its Pages site'],
])('a stop %s that switches Pages on says: %s', async (when, says, hint, left) => {
  const stop = new AbortController();
  const end = (): void => stop.abort(stoppedError());
  const repository = await play.repository({ pages: false });
  const hanging = when.includes('hangs') ? play.intercept(POST_PAGES, { fault: 'hang' }) : null;
  if (when.includes('did')) play.meanwhile(POST_PAGES, end);
  const delivering = play.deliver({
    ...{ repository, files: { 'dist/index.html': createPage() }, signal: stop.signal },
    inputs: { channel: 'K1', file: 'dist/', path: './', branch: 'gh-pages', setup: 'true' },
    token: play.world.token({ administration: 'write' }, LOGINS.human),
    onPause: () => void (repository.git.readRef('refs/heads/gh-pages') && when.includes('before') && end()),
  });
  while (hanging?.hits === 0) await new Promise(setImmediate);
  if (hanging !== null) end();
  const place = new RegExp(
    `^place: the branch gh-pages was created \\(commit [0-9a-f]{40}\\), and ${says}: .* → ${hint}`,
  );
  const played = await refused(delivering, place);
  const unknown = new RegExp(`^left behind: commit [0-9a-f]{40} on the branch gh-pages${left}$`);
  expect(played.report.lines.UNKNOWN).toMatch(unknown);
  expect(requestsOf(played, /^POST .*\/pages$/)).toHaveLength(when.includes('before') ? 0 : 1);
});
