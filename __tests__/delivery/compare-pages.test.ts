import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { comparePages, reportChangedPages } from '../../src/delivery/compare-pages.ts';
import type { Delivery } from '../../src/delivery/delivery.ts';
import { COMPARE, SECOND } from '../../src/protocol/limits.ts';
import { urlBelow } from '../../src/rules/naming.ts';
import { ACTION } from '../../src/words.ts';
import { type Contents, memorySite, shaOf } from '../channels/pages/site/memory-files.ts';
import { FakeScreen } from '../support/fake-screen.ts';
import { FakeClock, FakeHttp, fakePorts } from '../support/ports.ts';
import { attemptWith, deliveryWith, placementWith, proofWith, requestWith } from './builders.ts';

const OTHER = new URL('https://octo.github.io/site/');
const PREVIEW = new URL('https://octo.github.io/site/previews/pr-1/');

const fail = async (): Promise<never> => {
  throw new Error('not needed');
};

/** Compares two versions of a site, of which the other folder serves the first. */
async function compare(
  before: Contents,
  after: Contents,
  { clock = new FakeClock(), proof = proofWith() } = {},
): Promise<{ readonly done: Delivery; readonly asked: readonly string[] }> {
  const bodies = new Map(
    Object.entries(before).map(([path, text]) => [urlBelow(OTHER, path).pathname, text]),
  );
  const host = new FakeHttp(({ url }) => ({ body: bodies.get(new URL(url).pathname) ?? '' }));
  const blobs = Object.entries(before).map(([path, text]) => {
    return [path, { sha: shaOf(text), size: Buffer.byteLength(text) }] as const;
  });
  const served = { url: PREVIEW, sitePath: PREVIEW.pathname, display: 'page', isServedAsIs: true } as const;
  const main = attemptWith({ proof, placement: placementWith({ url: PREVIEW }) });
  const attempt = { ...main, task: { ...main.task, served: { ...served, pictureUrls: null } } };
  const context = {
    ...{ ...fakePorts(host.http), clock, request: requestWith({ compare: './' }) },
    ...{ face: ACTION, screen: new FakeScreen(), openFolder: fail, openRepository: fail },
  };
  const findCompared = async () => ({ url: OTHER, pages: new Map(blobs), hasRoom: true });
  const delivery = deliveryWith({ main: attempt, site: memorySite(after) });
  const [done] = await comparePages([delivery], { K1: { findCompared } }, context);
  return { done: done as Delivery, asked: host.seen.map(({ url }) => url) };
}

const kindsOf = ({ changedPages = [] }: Delivery) => changedPages.map(({ kind, path }) => `${kind} ${path}`);

const bytes = readFileSync(new URL('../scenarios/outputs/two-versions.json.gz', import.meta.url));
const OUTPUTS: Readonly<Record<string, [Contents, Contents]>> = JSON.parse(gunzipSync(bytes).toString());

describe('real output, of which one page was edited, one added and one removed, and navigation and stamps changed', () => {
  test.each([
    ['docusaurus', ['changed three/index.html', 'new added/index.html', 'removed five/index.html']],
    ['hugo', ['changed three/index.html', 'new added/index.html', 'removed five/index.html']],
    ['mkdocs', ['changed three/index.html', 'new added/index.html', 'removed five/index.html']],
    ['sphinx', ['changed three.html', 'new added.html', 'removed five.html']],
    ['vitepress', ['changed three.html', 'new added.html', 'removed five.html']],
    // The page of the crate lists its modules with their first sentences.
    [
      'rustdoc',
      [
        'changed demo/index.html',
        'changed demo/three/struct.Three.html',
        'new demo/added/index.html',
        'new demo/added/struct.Added.html',
        'removed demo/five/index.html',
        'removed demo/five/struct.Five.html',
      ],
    ],
  ])('%s', async (name, kinds) => {
    const [before, after] = OUTPUTS[name] ?? [{}, {}];
    const { done } = await compare(before, after);
    expect(kindsOf(done)).toEqual(kinds);
    expect(done.unknown).toEqual([]);
  });
});

const pages = (count: number, text: (nth: number) => string): Contents =>
  Object.fromEntries(
    Array.from({ length: count }, (_, nth) => [`${nth}.html`, `<title>${nth}</title>${text(nth)}`]),
  );

describe('the bounds of a comparison', () => {
  test('pages with the same bytes are not requested, and at most 300 others', async () => {
    const count = COMPARE.pages + 50;
    const before = { ...pages(count, () => '<p>Built on Monday'), 'same.html': '<p>x' };
    const after = {
      ...pages(count, (nth) => `<p>Built on Tuesday${nth === 7 ? '<p>New' : ''}`),
      'same.html': '<p>x',
    };
    const { done, asked } = await compare(before, after);
    expect(asked).toHaveLength(COMPARE.pages);
    expect(kindsOf(done)).toEqual(['changed 7.html']);
    expect(done.unknown[0]).toMatch(
      /^whether these pages differ from \.\/ \(.* the first 300, .* and 40 more$/,
    );
  });

  test('a page above 2 MB is not requested', async () => {
    const { done, asked } = await compare({ 'a.html': 'a' }, { 'a.html': 'b'.repeat(COMPARE.page + 1) });
    expect([asked.length, kindsOf(done)]).toEqual([1, []]);
    const other = await compare({ 'a.html': 'b'.repeat(COMPARE.page + 1) }, { 'a.html': 'a' });
    expect([other.asked, other.done.unknown.length]).toEqual([[], 1]);
  });

  test('it ends after 60 s, and says what it did not compare', async () => {
    class LateClock extends FakeClock {
      override timeout(ms?: number): AbortSignal {
        return ms === 60 * SECOND ? AbortSignal.abort() : super.timeout();
      }
    }
    const { done } = await compare({ 'a.html': 'a' }, { 'a.html': 'b' }, { clock: new LateClock() });
    expect(done.failure).toBeNull();
    expect(done.unknown[0]).toMatch(/^whether these pages differ from .* in time\): a\.html$/);
  });

  test('while caches show an earlier version, each link has its own', async () => {
    const proof = proofWith({ versioned: { url: PREVIEW, note: '' } });
    const { done } = await compare({}, { 'x/index.html': 'x' }, { proof });
    expect(reportChangedPages(done)?.changedPages[0]?.url).toBe(
      `${PREVIEW.href}x/?v=${shaOf('x').slice(0, 16)}`,
    );
  });
});
