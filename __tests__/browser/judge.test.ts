import { describe, expect, test } from '@jest/globals';
import { judge, judgeNavigationError } from '../../src/browser/judge.ts';
import { PageEvents } from '../../src/browser/page-events.ts';
import type { PageSnapshot } from '../../src/browser/view-page.ts';

const PAGE = { url: 'https://octo.github.io/site/' };

const eventsWith = (more: object): PageEvents =>
  Object.assign(new PageEvents(PAGE.url), { httpCode: 200, contentType: 'text/html' }, more);

test.each([
  [{ navigations: 6 }, false, 'the page redirects without end'],
  [{ dialogs: 6 }, false, 'the page opens dialogs without end'],
  [{ httpCode: 503 }, true, 'the page answers HTTP 503'],
  [{ httpCode: 404, ledTo: 'b.dev/' }, true, 'the page leads to b.dev/, which answers HTTP 404'],
  [{ httpCode: 404, missing: 'a WebSocket' }, true, 'the page answers HTTP 404'],
  [{}, false, 'the page does not respond'],
])('A page without a picture does not count as shown with %j.', (events, isAnswering, reason) => {
  expect(judge(null, eventsWith(events), PAGE, isAnswering)).toMatchObject({ verdict: 'not-shown', reason });
  const lacking = eventsWith({ ...events, httpCode: 200, missing: 'a WebSocket' });
  expect(judge(null, lacking, PAGE, isAnswering).verdict).toBe('not-checked');
});

const SNAPSHOT: PageSnapshot = {
  title: 'Page',
  headings: [],
  isComplete: true,
  isWaiting: false,
  unfilledTags: [],
  brokenPictures: [],
  text: 'Cannot GET /',
  painted: { characters: 10, images: 0, drawings: 0 },
  largestPicture: 0,
  hasMore: false,
  isErrorPage: false,
  isMarkerVisible: null,
  isStable: true,
  picture: { png: Buffer.of(), grid: { width: 0, height: 0, data: Buffer.of() } },
};

const judgeSnapshot = (more: Partial<PageSnapshot>, events = {}, page = {}, isAnswering = true) =>
  judge({ ...SNAPSHOT, ...more }, eventsWith(events), { ...PAGE, ...page }, isAnswering);

const SOURCE = 'This XML file does not appear to have any style information associated with it.';

test.each<[string, Partial<PageSnapshot>, object, object]>([
  ['an error', {}, {}, {}],
  ['an error without the marker', { isMarkerVisible: false }, {}, {}],
  ['the source of a drawing', { text: SOURCE }, { contentType: 'image/svg+xml' }, {}],
  ['the source of a page', { text: SOURCE }, { contentType: 'application/xhtml+xml' }, {}],
])('A page with %s is not shown.', (_, snapshot, events, page) => {
  expect(judgeSnapshot(snapshot, events, page).verdict).toBe('not-shown');
});

test.each<[string, Partial<PageSnapshot>, object, object]>([
  ['more content below', { hasMore: true }, {}, {}],
  ['a large picture', { largestPicture: 900 }, {}, {}],
  ['the requested marker', { isMarkerVisible: true }, {}, {}],
  ['the name of an error page', {}, {}, { url: 'https://octo.github.io/404.html' }],
  ...['text/plain', 'application/json; charset=utf-8', 'text/markdown', 'image/svg+xml'].map(
    (contentType): [string, object, object, object] => [`the type ${contentType}`, {}, { contentType }, {}],
  ),
  ['the source of data', { text: SOURCE }, { contentType: 'application/xml' }, {}],
])('A page with an error and %s is shown.', (_, snapshot, events, page) => {
  expect(judgeSnapshot(snapshot, events, page).verdict).toBe('shown');
});

test('A page that stopped answering is not shown, whatever it had painted.', () => {
  const painted = { characters: 900, images: 3, drawings: 0 };
  const long = { text: 'Numbers of the week', painted, largestPicture: 900 };
  expect(judgeSnapshot(long).verdict).toBe('shown');
  expect(judgeSnapshot(long, {}, {}, false).verdict).toBe('not-shown');
});

test("A blank page's missing files are reported before the exceptions that they cause.", () => {
  const painted = { characters: 0, images: 0, drawings: 0 };
  const failed = {
    own: [{ error: '404', url: '/app.js' }],
    other: [{ error: 'net::ERR_FAILED', url: 'https://cdn.dev/count.js' }],
  };
  const { reason } = judgeSnapshot({ text: '', painted }, { exceptions: ['ReferenceError: app'], failed });
  expect(reason).toBe('the page is blank: 404 /app.js');
});

describe('a page that scripts render', () => {
  const GOT_NOTHING = { ownData: { missing: { error: '404', url: '/api.json' }, found: 0 } };
  const SCRIPTED = { ownText: 'Pleasewait...' };

  test('is not shown if they got none of their data', () => {
    for (const page of [SCRIPTED, { ownText: '' }]) {
      expect(judgeSnapshot({ text: 'Pets and more' }, GOT_NOTHING, page)).toEqual({
        verdict: 'not-shown',
        cause: '404 /api.json',
        reason: 'the page shows only "Pets and more": 404 /api.json',
      });
    }
  });

  const OWN = { ownText: 'SalesdashboardLoading…Updatedeverynight' };
  const LOADING = { text: 'Sales dashboard Loading… Updated every night', isWaiting: true };
  const TOLD = { text: 'Sales dashboard Loading… Updated every night: HTTP 404' };
  const logo = { painted: { characters: 10, images: 1, drawings: 0 }, largestPicture: 150 };

  test.each<[string, string, Partial<PageSnapshot>, object, object]>([
    ['not-shown', 'it asks to wait for it', LOADING, GOT_NOTHING, OWN],
    ['not-shown', 'it asks to wait for it, beside a logo', { ...LOADING, ...logo }, GOT_NOTHING, OWN],
    ['not-shown', 'it shows the code of the failure', TOLD, GOT_NOTHING, OWN],
    ['not-shown', 'it asks to wait on a link', LOADING, GOT_NOTHING, {}],
    ['shown', 'more of it is below', { ...LOADING, hasMore: true }, GOT_NOTHING, OWN],
    ['shown', 'it has a large picture', { ...LOADING, largestPicture: 800 }, GOT_NOTHING, OWN],
    ['shown', 'its own text names the code', TOLD, GOT_NOTHING, { ownText: `${OWN.ownText}:HTTP404` }],
    ['shown', 'it asks for nothing', LOADING, {}, OWN],
  ])('is %s without its data if %s', (verdict, _, snapshot, events, page) => {
    expect(judgeSnapshot(snapshot, events, page).verdict).toBe(verdict);
  });

  test.each<[string, Partial<PageSnapshot>, object, object]>([
    ['its own text is not known', {}, GOT_NOTHING, {}],
    [
      'most of its own text is shown, with a text between',
      { text: 'Pets of the town Search… Dogs, cats, mice, fish and very many more' },
      GOT_NOTHING,
      { ownText: 'SkiptocontentPetsofthetownDogs,cats,mice,fishandverymanymore' },
    ],
    ['its own text is shown', {}, GOT_NOTHING, { ownText: 'Petsand' }],
    ['its own text is shown in other letters', { text: 'CAFE\u0301' }, GOT_NOTHING, { ownText: 'caf\u00e9' }],
    ['they got some', {}, { ownData: { missing: { error: '404', url: '/api.json' }, found: 1 } }, SCRIPTED],
    ['the marker is visible', { isMarkerVisible: true }, GOT_NOTHING, SCRIPTED],
    ['it is an error page', {}, GOT_NOTHING, { ...SCRIPTED, url: 'https://octo.github.io/404.html' }],
    ['it shows much', { text: 'much '.repeat(63) }, GOT_NOTHING, SCRIPTED],
  ])('is shown if %s', (_, snapshot, events, page) => {
    expect(judgeSnapshot({ text: 'Pets and more', ...snapshot }, events, page).verdict).toBe('shown');
  });
});

test.each([
  ['not-checked', 'NAME_NOT_RESOLVED ACCESS_DENIED CONNECTION_FAILED BLOCKED_BY_CLIENT CONNECTION_RESET'],
  ['not-checked', 'TIMED_OUT FAILED EMPTY_RESPONSE SOMETHING_NEW'],
  ['not-shown', 'TOO_MANY_REDIRECTS INVALID_REDIRECT UNSAFE_REDIRECT BLOCKED_BY_RESPONSE'],
  ['not-shown', 'HTTP_RESPONSE_CODE_FAILURE UNKNOWN_URL_SCHEME'],
])('A page is %s for the errors %s.', (expected, errors) => {
  for (const error of errors.split(' ')) {
    const { verdict } = judgeNavigationError(`net::ERR_${error}`, eventsWith({ httpCode: 302 }));
    expect([error, verdict]).toEqual([error, expected]);
  }
});
