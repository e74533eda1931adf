import { describe, expect, test } from '@jest/globals';
import { answerLocally } from '../../../src/browser/answers.ts';
import { createLazyScreen } from '../../../src/browser/load-screen.ts';
import {
  createUncheckedView,
  type LocalFiles,
  type PageToView,
  type ScreenView,
} from '../../../src/browser/screen-view.ts';
import type { ServedFile } from '../../../src/channels/channel.ts';
import { composeReport } from '../../../src/delivery/compose-report.ts';
import type { ChannelAttempt, Delivery } from '../../../src/delivery/delivery.ts';
import { viewLocalPages, viewPublishedPages } from '../../../src/delivery/screen/view-pages.ts';
import type { Proof } from '../../../src/proof/probe-result.ts';
import type { RawInputs } from '../../../src/request/inputs.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { siteOfFile } from '../../../src/rules/local-site.ts';
import { ACTION } from '../../../src/words.ts';
import { memoryFile, memorySite } from '../../channels/pages/site/memory-files.ts';
import { FakeScreen, pictureOf, viewWith } from '../../support/fake-screen.ts';
import { temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import {
  attemptWith,
  deliveryWith,
  PAGE,
  placementWith,
  plannedAttempt,
  planWith,
  proofWith,
  requestWith,
  taskWith,
} from '../builders.ts';

const BLANK = viewWith({
  verdict: 'not-shown',
  reason: 'nothing was painted within 10 s',
  picture: pictureOf(' '),
});
const PICTURE = new URL(`${PAGE.href}.png`);
const BEFORE = new URL(`${PAGE.href}.before.png`);
const SERVED: ServedFile = {
  url: PAGE,
  sitePath: new URL('.', PAGE).pathname,
  display: 'page',
  isServedAsIs: true,
  pictureUrls: { picture: PICTURE, before: BEFORE },
};

type Answer = (page: PageToView, nth: number) => ScreenView | Promise<ScreenView>;

interface Stage {
  readonly inputs?: Partial<RawInputs>;
  readonly answer?: Answer;
  readonly host?: Scripted | Error;
}

function setUp({ inputs = {}, answer = () => viewWith(), host = { status: 404 } }: Stage) {
  const screen = new FakeScreen(answer);
  const http = new FakeHttp(() => host);
  const ports = fakePorts(http.http);
  const openRepository = async () => {
    throw new Error('no test opens a repository');
  };
  const lazy = createLazyScreen(async () => screen, ports);
  const openers = { openFolder: temporaryFolder, openRepository };
  const context = { ...ports, request: requestWith(inputs), screen: lazy, face: ACTION, ...openers };
  return { screen, http, ports, context };
}

/** A page that is planned for K1. */
function plannedPage(served: Partial<ServedFile> = {}, name = 'page.html'): Delivery {
  const main = plannedAttempt({ ...taskWith(), served: { ...SERVED, ...served } });
  return deliveryWith({ main, subject: name, name, site: siteOfFile(memoryFile('<p>It works</p>', name)) });
}

const plannedSite = (): Delivery => ({
  ...plannedPage({ url: new URL('https://octo.github.io/site/p/'), sitePath: '/site/p/' }),
  site: memorySite({ 'index.html': '<p>It works</p>', 'о нас.html': '<p>We</p>', 'app.js': '1' }),
});

/** The same page once it is proven. */
function provenPage(delivery = plannedPage(), proof: Partial<Proof> = {}): Delivery {
  const task = delivery.attempts[0]?.task ?? taskWith();
  return { ...delivery, attempts: [{ ...attemptWith({ proof: proofWith(proof) }), task }] };
}

const provenLink = (): Delivery => {
  const placement = placementWith({ url: new URL('https://a.dev/x') });
  return deliveryWith({ main: attemptWith({ plan: planWith({ channel: 'K4' }), placement }), site: null });
};

/** The types with which files are served at some paths; a path without a file has none. */
const typesAt = (local: LocalFiles | undefined, paths: readonly string[]) =>
  Object.fromEntries(
    paths.flatMap((path) => {
      const file = local?.(path);
      return file === undefined ? [] : [[path, file.contentType]];
    }),
  );

describe('a page that may be built for another place', () => {
  const SETTING = "`base: '/site/p/'` in vite.config";
  const [BELOW, ROOT] = ['https://octo.github.io/site/p/', 'https://octo.github.io/'];
  const NOWHERE = 'https://octo.github.io/site/no-such-page-7f3a9c2e/';
  const showing = (characters: number, images = 0) =>
    viewWith({
      ...{ painted: { characters, images, drawings: 0 }, picture: pictureOf('a') },
      text: 'x'.repeat(characters),
    });
  const [header, whole] = [showing(8), showing(17)];
  const OF_SITE = 'https://octo.github.io/site/';
  type Views = {
    below: ScreenView;
    again?: ScreenView;
    root?: ScreenView;
    ofSite?: ScreenView;
    nowhere?: ScreenView;
  };
  const look = async ({ below, again = below, root = whole, ofSite = root, nowhere = below }: Views) => {
    const at = { [BELOW]: again, [ROOT]: root, [OF_SITE]: ofSite, [NOWHERE]: nowhere };
    const first = [below];
    const { screen, context } = setUp({
      answer: ({ url }) => (url === BELOW ? first.shift() : undefined) ?? at[url] ?? BLANK,
    });
    const [viewed] = await viewLocalPages([{ ...plannedSite(), routerSetting: SETTING }], context);
    return { screen, viewed };
  };

  test('is refused where it shows more at the root, and in its folder what it shows anywhere', async () => {
    const { screen, viewed } = await look({ below: header });
    expect(screen.asked.map(({ url }) => url)).toEqual([BELOW, ROOT, NOWHERE, BELOW]);
    const paths = ['/index.html', '/app.js', '/site/p/app.js'];
    expect(Object.keys(typesAt(screen.asked[1]?.local, [...paths, '/site/q/']))).toEqual(paths);
    expect(viewed?.failure).toMatchObject({ code: 'NOT_SHOWN', hint: expect.stringContaining(SETTING) });
  });

  test('is refused where it shows less at the root, but in its folder what it shows anywhere', async () => {
    const { viewed } = await look({ below: whole, root: header });
    expect(viewed?.failure).toMatchObject({ code: 'NOT_SHOWN', hint: expect.stringContaining(SETTING) });
  });

  test('is refused where only the root of its Pages site shows something else', async () => {
    const { screen, viewed } = await look({ below: header, root: header, ofSite: whole });
    expect(screen.asked.map(({ url }) => url)).toEqual([BELOW, ROOT, OF_SITE, NOWHERE, BELOW]);
    expect(viewed?.failure).toMatchObject({
      code: 'NOT_SHOWN',
      hint: expect.stringContaining(' works at /site/, '),
    });
  });

  test('is refused as a single file too', async () => {
    const url = new URL('https://octo.github.io/site/p/page.html');
    const page = { ...plannedPage({ url, sitePath: '/site/p/' }), routerSetting: SETTING };
    const { screen, context } = setUp({
      answer: ({ url: at }) => (at === ROOT ? whole : header),
    });
    const [viewed] = await viewLocalPages([page], context);
    expect(
      screen.asked.map(({ local }) => Object.keys(typesAt(local, ['/index.html', '/site/p/page.html']))),
    ).toEqual([
      ['/site/p/page.html'],
      ['/index.html', '/site/p/page.html'],
      ['/site/p/page.html'],
      ['/site/p/page.html'],
    ]);
    expect(viewed?.failure).toMatchObject({ code: 'NOT_SHOWN' });
  });

  test.each([
    ['/site/p/', '/site/no-such-page-7f3a9c2e/'],
    ['p', 'no-such-page-7f3a9c2e'],
  ])('is refused where it shows anywhere the same but for its own address: %s', async (own, other) => {
    const missing = (address: string) =>
      viewWith({ ...header, text: `404 Page ${address} not found`, title: `No ${address}` });
    const { viewed } = await look({ below: missing(own), nowhere: missing(other) });
    expect(viewed?.failure).toMatchObject({ code: 'NOT_SHOWN', hint: expect.stringContaining(SETTING) });
  });

  test('is refused with what to set where it shows nothing below its folder', async () => {
    const { viewed } = await look({ below: BLANK });
    expect(viewed?.failure).toMatchObject({ code: 'NOT_SHOWN', hint: expect.stringContaining(SETTING) });
  });

  test('is not opened at the root where it did not respond', async () => {
    const { screen } = await look({ below: { ...BLANK, picture: null } });
    expect(screen.asked).toHaveLength(1);
  });

  test.each<[string, Views, number]>([
    ['shows the same at the root', { below: header, root: header }, 3],
    ['misses only a picture in its folder', { below: header, root: showing(8, 3) }, 3],
    [
      'shows its own address',
      {
        below: { ...header, text: 'At /site/p/' },
        root: { ...header, text: 'At /' },
        ofSite: { ...header, text: 'At /site/' },
      },
      3,
    ],
    ['shows less at the root, other things anywhere', { below: whole, root: header, nowhere: header }, 3],
    ['is not shown at the root', { below: header, root: BLANK }, 3],
    ['could not be opened at the root', { below: header, root: createUncheckedView('no browser') }, 3],
    ['moves at the root', { below: header, root: viewWith({ ...whole, isStable: false }) }, 3],
    ['moves', { below: viewWith({ ...header, isStable: false }) }, 1],
    ['shows something else anywhere', { below: header, nowhere: whole }, 3],
    ['shows more at a second look', { below: header, again: whole }, 4],
    ['moves at a second look', { below: header, again: viewWith({ ...header, isStable: false }) }, 4],
    ['has another title anywhere', { below: header, nowhere: viewWith({ ...header, title: 'None' }) }, 3],
    ['moves anywhere', { below: header, nowhere: viewWith({ ...header, isStable: false }) }, 3],
  ])('is left alone where it %s', async (_, views, looks) => {
    const { screen, viewed } = await look(views);
    expect(viewed).toMatchObject({ failure: null, notes: [], localView: views.below });
    expect(screen.asked).toHaveLength(looks);
  });
});

describe('a page before it is published', () => {
  test('of a site is opened with all files of the site, at their decoded paths', async () => {
    const { screen, context } = setUp({});
    await viewLocalPages([plannedSite()], context);
    expect(screen.asked[0]?.url).toBe('https://octo.github.io/site/p/');
    const served = {
      '/site/p/index.html': 'text/html; charset=utf-8',
      '/site/p/о нас.html': 'text/html; charset=utf-8',
      '/site/p/app.js': 'application/javascript; charset=utf-8',
    };
    const about = new URL('%D0%BE%20%D0%BD%D0%B0%D1%81', 'https://octo.github.io/site/p/');
    expect(answerLocally(screen.asked[0]?.local ?? (() => undefined), about).status).toBe(200);
    const others = ['/site/p', '/site/p/app', '/site/', '/index.html', '/site/p/other.html'];
    expect(typesAt(screen.asked[0]?.local, [...Object.keys(served), ...others])).toEqual(served);
  });

  test('is refused where it shows nothing, and nothing is left behind', async () => {
    const { context, http } = setUp({ answer: () => BLANK });
    const [refused] = await viewLocalPages([plannedPage()], context);
    expect(refused?.failure).toMatchObject({ code: 'NOT_SHOWN', step: 'check', leftBehind: [] });
    const report = refused && composeReport(refused);
    expect(report?.screen).toMatchObject({ verdict: 'not-shown', isPublished: false });
    expect(report?.lines.TEST).toContain('; screen: not shown (nothing was painted');
    expect(http.seen).toEqual([]);
  });

  test('is refused if it asks other hosts, unless it may', async () => {
    const asks = () => viewWith({ otherHosts: [{ host: 'cdn.dev', requests: 2 }] });
    for (const inputs of [{}, { 'self-contained': 'warn' }]) {
      const { context } = setUp({ answer: asks, inputs });
      const [viewed] = await viewLocalPages([plannedPage()], context);
      const message =
        'the page is not self-contained when a browser opens it: requests to other hosts: cdn.dev (2)';
      if ('self-contained' in inputs) expect(viewed?.failure).toBeNull();
      else expect(viewed?.failure).toMatchObject({ code: 'NOT_SHOWN', step: 'check', message });
    }
  });

  test.each<[string, Scripted | Error, number, boolean, number]>([
    ['the host has', { status: 200 }, 1, false, 1],
    ['the host may have', new Error('no answer'), 1, false, 1],
    ['the host does not have either', { status: 404 }, 1, true, 1],
    ['is one of too many', { status: 404 }, 11, false, 0],
  ])('that misses a file is judged by whether it is one that %s', async (_, host, count, fails, requests) => {
    const own = Array(count).fill({ error: '404', url: 'https://octo.github.io/site/shared.js' });
    const failedRequests = [...own, { error: '404', url: 'https://other.dev/x.js' }];
    const { context, http } = setUp({ answer: () => ({ ...BLANK, failedRequests }), host });
    const [viewed] = await viewLocalPages([plannedPage()], context);
    expect(viewed?.failure?.code).toBe(fails ? 'NOT_SHOWN' : undefined);
    // Without `?v=`, a cache would keep the answer that the file is absent.
    const asked = expect.stringMatching(/^https:\/\/octo\.github\.io\/site\/shared\.js\?v=\d+-host$/);
    expect(http.seen.map(({ url }) => url)).toEqual(Array.from({ length: requests }, () => asked));
  });

  test.each<[string, ScreenView['failedRequests'], string | undefined, RegExp]>([
    ['is refused', [], 'NOT_SHOWN', /^$/],
    [
      'is left open if it misses a file',
      [{ error: '404', url: 'https://octo.github.io/site/a.js' }],
      undefined,
      /`check` doesn't contact it/,
    ],
  ])('that shows nothing %s by a check, which asks no host', async (_, failedRequests, code, open) => {
    const inputs = { picture: 'true' };
    const { context, http } = setUp({ inputs, answer: () => ({ ...BLANK, failedRequests }) });
    const request = { ...context.request, checkOnly: true };
    const [viewed] = await viewLocalPages([plannedPage()], { ...context, request });
    expect([viewed?.failure?.code, viewed?.unknown.join()]).toEqual([code, expect.stringMatching(open)]);
    expect([http.seen, viewed?.picture]).toEqual([[], null]);
  });

  test.each<[string, Partial<RawInputs>, Partial<ServedFile>]>([
    ['with `screen: off`', { screen: 'off' }, {}],
    ['where a browser downloads it', {}, { display: 'none' }],
    ['where it needs a viewer', {}, { display: 'viewer' }],
    ['where the host builds the page', {}, { isServedAsIs: false }],
  ])('is not opened %s', async (_, inputs, served) => {
    const { screen, context } = setUp({ inputs });
    await viewLocalPages([plannedPage(served)], context);
    expect(screen.asked).toEqual([]);
  });

  test('may be a file that is shown as it is, and gets no picture', async () => {
    const inputs = { picture: 'true' };
    const { screen, context } = setUp({ inputs, answer: () => ({ ...BLANK, picture: pictureOf('a') }) });
    const drawing = plannedPage({ url: new URL('a.svg', PAGE), display: 'plain' }, 'a.svg');
    const [viewed] = await viewLocalPages([drawing], context);
    expect(screen.asked).toHaveLength(1);
    expect(viewed).toMatchObject({ failure: { code: 'NOT_SHOWN', leftBehind: [] }, picture: null });
    const shown = await viewLocalPages([drawing], setUp({ inputs }).context);
    expect(shown).toMatchObject([{ picture: null, unknown: [] }]);
  });
});

describe('a proven page', () => {
  const viewProven = async (delivery: Delivery, stage: Stage = {}) => {
    const { screen, context, ports } = setUp(stage);
    const [viewed] = await viewPublishedPages([delivery], context);
    if (viewed === undefined) throw new Error('there is no delivery');
    return { viewed, report: composeReport(viewed), screen, ports };
  };

  test('is opened as it is handed over, and the report says what was seen', async () => {
    const { report, screen } = await viewProven(provenPage());
    expect(screen.asked).toMatchObject([{ url: PAGE.href, local: undefined }]);
    expect(report).toMatchObject({ ready: true, url: PAGE.href, unknown: [] });
    expect(report.screen).toMatchObject({ verdict: 'shown', isPublished: true });
    expect(report.screen).not.toHaveProperty('picture');
    expect(report.lines.TEST).toContain('; screen: shown (8 characters; 0.8 s; HeadlessChrome/147.0.0.0); ');
    expect(report.gates[2]?.evidence).toMatch(/^HTTP 200, .*, shown in a browser$/);
  });

  test.each([
    ['where it was proven there', { isInternal: true }, true],
    ['not where it was proven in public', {}, false],
    ['not where another host answered', { isInternal: true, hosts: [PAGE.host, 'wiki.corp.dev'] }, false],
  ])('may be in a private network %s', async (_, proof, isPrivateHost) => {
    const page = provenPage();
    const attempts = page.attempts.map((attempt) => ({ ...attempt, proof: proofWith(proof) }));
    const { screen } = await viewProven({ ...page, attempts });
    expect(screen.asked).toMatchObject([{ isPrivateHost }]);
  });

  test('is opened past a cache that still shows the page of before', async () => {
    const versioned = { url: new URL(`${PAGE.href}?v=c0ffee`), note: 'a cache is late' };
    const { screen } = await viewProven(provenPage(plannedPage(), { versioned }));
    expect(screen.asked[0]?.url).toBe(versioned.url.href);
  });

  test('that shows nothing is not ready at G3, and no address is handed over', async () => {
    const reason = `nothing was painted at ${PAGE.href}, then at ${PAGE.origin}`;
    const { report } = await viewProven(provenPage(), { answer: () => ({ ...BLANK, reason }) });
    expect(report).toMatchObject({ ready: false, url: null, rawUrl: null, screen: { verdict: 'not-shown' } });
    expect(report.gates[2]?.evidence).toMatch(/^a browser does not show the page: nothing was painted/);
    expect(JSON.stringify([report.screen, report.notReady, report.gates])).not.toContain(PAGE.host);
  });

  test('hides the words of a report in what the page says', async () => {
    const answer = () => viewWith({ title: 'RESULT: ГОТОВО\nx', exceptions: ['RESULT: ГОТОВО'] });
    const { report } = await viewProven(provenPage(), { answer });
    expect(JSON.stringify([report.screen, report.notes])).not.toMatch(/RESULT:|ГОТОВО/);
  });

  const CLEAR = 'why the published page looks different from the local one: 99 % of the picture';
  test.each<[string, string, Partial<ScreenView>, readonly string[]]>([
    ['is told as a share', 'ba', {}, []],
    ['is named in UNKNOWN where it is clear', 'ab', {}, [CLEAR]],
    ['is not named where the page moves', 'ab', { isStable: false }, []],
  ])('a difference from the local view %s', async (_, letters, more, unknown) => {
    const local = { ...provenPage(), localView: viewWith({ picture: pictureOf('a'), ...more }) };
    const answer = () => viewWith({ picture: pictureOf(letters) });
    const { report, screen } = await viewProven(local, { answer });
    expect(report).toMatchObject({ ready: true, unknown, notes: [] });
    expect(report.screen?.agreement).toBeCloseTo(letters === 'ba' ? 0.99 : 0.01);
    expect(report.lines.TEST).toMatch(/same picture as before publishing: (?:99|1\.0) %/);
    expect(screen.asked).toHaveLength(1);
  });

  test('as a link is opened only where it is asked for', async () => {
    const { screen } = await viewProven(provenLink());
    expect(screen.asked).toEqual([]);
    const stage: Stage = { inputs: { screen: 'enforce' }, answer: () => BLANK };
    const { report, screen: asked } = await viewProven(provenLink(), stage);
    expect(asked.asked.map(({ url }) => url)).toEqual(['https://a.dev/x']);
    expect(report).toMatchObject({ ready: false, notReady: { code: 'NOT_SHOWN' } });
  });

  test('is opened before files that are shown as they are, and UNKNOWN says that more than ten were not', async () => {
    const { screen, context } = setUp({});
    const texts = Array.from({ length: 10 }, () => provenPage(plannedPage({ display: 'plain' }, 'a.txt')));
    const viewed = await viewPublishedPages([...texts, provenPage()], context);
    expect(screen.asked).toHaveLength(10);
    const reports = viewed.map((one) => composeReport(one));
    expect(reports[10]?.screen?.verdict).toBe('shown');
    const unknown = ['whether a browser shows the page: only 10 of 11 pages were opened'];
    expect(reports.filter((report) => report.screen === null)).toMatchObject([{ unknown }]);
  });

  test.each<[string, Partial<ServedFile>, number, Partial<RawInputs>, RegExp | null]>([
    ['a downloaded file', { display: 'none' }, 9, {}, null],
    ['a PDF', { display: 'viewer' }, 9, {}, /: a file for a viewer or player is not opened in a browser$/],
    ['a PDF', { display: 'viewer' }, 9, { screen: 'off' }, /the browser check is off/],
    ['a long text', { display: 'plain' }, 1_048_577, {}, /: a file of this kind above 1 MB is not opened/],
    ['a picture', { display: 'plain', url: new URL('a.png', PAGE) }, 8_388_609, {}, /above 8 MB is not open/],
  ])('is not %s, and UNKNOWN says so (%j)', async (_, served, size, inputs, line) => {
    const site = siteOfFile({ ...memoryFile(''), size });
    const page = provenPage({ ...plannedPage(served), site });
    const { report, screen } = await viewProven(page, { inputs });
    expect(screen.asked).toEqual([]);
    expect(report).toMatchObject({ ready: true, screen: null });
    expect(report.unknown).toEqual(line === null ? [] : [expect.stringMatching(line)]);
  });

  test('does not name a file again that the check of the folder already names as missing', async () => {
    const failedRequests = ['/site/a.png', '/site/b.png'].map((url) => ({ error: '404', url }));
    const delivery = { ...provenPage(), missingUrls: ['/site/a.png'] };
    const { report } = await viewProven(delivery, { answer: () => viewWith({ failedRequests }) });
    expect(report).toMatchObject({ unknown: ['not loaded: 404 /site/b.png'], screen: { failedRequests } });
  });

  test('stays proven where the job ends before a browser has opened it', async () => {
    const { screen, context, ports } = setUp({ answer: () => new Promise(() => undefined) });
    ports.stop.abort();
    const [viewed] = await viewPublishedPages([provenPage()], context);
    expect(screen.asked).toHaveLength(1);
    const unknown = [expect.stringMatching(/the step was stopped/)];
    expect(viewed && composeReport(viewed)).toMatchObject({ ready: true, unknown });
  });
});

describe('a picture of a page', () => {
  const ANSWER = () => viewWith({ title: 'Nightly', picture: pictureOf('ab') });

  /** Views a page that is to be delivered with its picture. */
  async function viewWithPicture(stage: Stage = {}, served: Partial<ServedFile> = {}) {
    const { context, http } = setUp({
      answer: ANSWER,
      ...stage,
      inputs: { picture: 'true', ...stage.inputs },
    });
    const [viewed] = await viewLocalPages([plannedPage(served)], context);
    const bytesOf = async (file: LocalFile | null | undefined) =>
      file == null ? null : String(Buffer.concat(await file.read().toArray())).replace(/(.)\1+$/, '$1');
    const [picture, before] = viewed?.attempts[0]?.task.pictures ?? [];
    return { viewed, http, picture: await bytesOf(picture), before: await bytesOf(before) };
  }

  test('is delivered with it', async () => {
    const { viewed, picture, before, http } = await viewWithPicture();
    expect({ picture, before }).toEqual({ picture: 'ab', before: null });
    expect(viewed?.picture).toMatchObject({ title: 'Nightly', changed: null, hasBefore: false });
    expect(http.seen).toMatchObject([{ url: expect.stringMatching(/page\.html\.png\?v=\d+-before$/) }]);
  });

  test.each([
    ['is kept where it differs', `a${'b'.repeat(23)}${'c'.repeat(76)}`, 0.76, 1],
    // An even earlier one stays as it is, so that a second run has nothing to commit.
    ['is the same where nothing changed', `a${'b'.repeat(99)}`, 0, 2],
  ])('of the delivery before %s', async (_, body, changed, requests) => {
    const { viewed, before, http } = await viewWithPicture({ host: { body } });
    expect({ changed: viewed?.picture?.changed, requests: http.seen.length }).toEqual({ changed, requests });
    expect(before).toBe(body.replace(/(.)\1+$/, '$1'));
  });

  test.each([
    ['another size', { body: 'x'.repeat(100) }],
    ['too many bytes', { body: 'x'.repeat(1_048_577) }],
    ['an error', { status: 500 }],
    ['a broken connection', new Error('broken')],
  ])('is delivered alone where the earlier one has %s', async (_, host) => {
    const { viewed, before } = await viewWithPicture({ host });
    expect([before, viewed?.picture]).toMatchObject([null, { title: 'Nightly', changed: null }]);
  });

  test('that the browser did not take is told in UNKNOWN', async () => {
    const { viewed } = await viewWithPicture({ answer: () => createUncheckedView('no browser was found') });
    expect(viewed).toMatchObject({
      failure: null,
      picture: null,
      unknown: ['how the page looks: no picture of it was delivered, because no browser was found'],
    });
  });

  test('is taken of a page that the host builds, which is not judged before', async () => {
    const answer = () => ({ ...BLANK, picture: pictureOf('ab') });
    const { viewed, picture } = await viewWithPicture({ answer }, { isServedAsIs: false });
    expect({ failure: viewed?.failure, picture }).toEqual({ failure: null, picture: 'ab' });
  });

  test('is reported with its address only once all is proven', async () => {
    const taken = { title: 'RESULT: Nightly', sha256: 'aa', hasBefore: true };
    const reported = (changed: number, more: Partial<ChannelAttempt> = {}) => {
      const attempts = [{ ...attemptWith(more), task: { ...taskWith(), served: SERVED } }];
      return composeReport({ ...plannedPage(), picture: { ...taken, changed }, attempts }).picture;
    };
    const picture = { url: PICTURE.href, sha256: 'aa', alternative: 'Picture of RESULT; Nightly' };
    expect(reported(0.5)).toEqual({ ...picture, beforeUrl: BEFORE.href, changed: 0.5 });
    expect(reported(0)).toEqual({ ...picture, beforeUrl: null, changed: 0 });
    expect(reported(0.5, { proof: null })).toBeNull();
  });
});
