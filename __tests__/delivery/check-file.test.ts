import { describe, expect, test } from '@jest/globals';
import { checkPages } from '../../src/delivery/check-site.ts';
import { type Delivery, newDelivery } from '../../src/delivery/delivery.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { memoryFile } from '../channels/pages/site/memory-files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../support/ports.ts';
import { PAGE, plannedAttempt, requestWith, taskWith } from './builders.ts';

/** A file that K1 will serve beside `PAGE`. */
function planned(name: string, content: string): Delivery {
  const served = {
    url: new URL(name, PAGE),
    display: 'page',
    isServedAsIs: true,
    pictureUrls: null,
  } as const;
  return {
    ...newDelivery('deliver', name),
    ...{ name, site: siteOfFile(memoryFile(content, name)) },
    attempts: [plannedAttempt({ ...taskWith(), served })],
  };
}

const PAGE_WITH_STYLE = planned('page.html', '<link rel=stylesheet href=style.css>');

/** What becomes of the first delivery, and what its host was asked. */
async function check(mode: string, deliveries: readonly Delivery[], host: Scripted | Error = {}) {
  const { http, seen } = new FakeHttp(() => host);
  const request = requestWith({ 'self-contained': mode });
  const [checked] = await checkPages(deliveries, request, fakePorts(http));
  return { code: checked?.failure?.code ?? null, asked: seen.map(({ url }) => url) };
}

describe('a page that is delivered alone', () => {
  const asked = [expect.stringMatching(/\/site\/style\.css\?v=/)];

  test.each([
    ['auto', 'BAD_FILE', []],
    ['enforce', 'BAD_FILE', []],
    ['warn', null, asked],
    ['off', null, asked],
  ])('with `self-contained: %s` and a style sheet that its host has: %s', async (mode, code, requests) => {
    expect(await check(mode, [PAGE_WITH_STYLE])).toEqual({ code, asked: requests });
  });

  test.each(['warn', 'off'])('is refused with `%s` where its style sheet is missing', async (mode) => {
    expect(await check(mode, [PAGE_WITH_STYLE], { status: 404 })).toEqual({ code: 'BAD_FILE', asked });
  });

  test('is not refused where nobody knows whether the host has it', async () => {
    expect(await check('warn', [PAGE_WITH_STYLE], new Error('no answer'))).toEqual({ code: null, asked });
    const notPlanned = { ...PAGE_WITH_STYLE, attempts: [] };
    expect(await check('warn', [notPlanned])).toEqual({ code: null, asked: [] });
  });

  test('may need what the same step delivers', async () => {
    const both = [PAGE_WITH_STYLE, planned('style.css', 'a {}')];
    expect(await check('warn', both, { status: 404 })).toEqual({ code: null, asked: [] });
  });
});
