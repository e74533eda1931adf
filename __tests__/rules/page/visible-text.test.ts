import { describe, expect, test } from '@jest/globals';
import { parsePage } from '../../../src/rules/page/parse-page.ts';
import { findUnfilledTags, readVisibleText, showsText } from '../../../src/rules/page/visible-text.ts';
import { finish } from '../../support/finish.ts';

const shows = (html: string, text: string): boolean => showsText(parsePage(html), text);

/** Pages by whether a browser shows the marker by itself, or not. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'by itself': [
    '<p>build-42</p>',
    '<b>build-</b><i>42</i>',
    '<p>build&#45;42</p>',
    '<p>build-\n42</p>',
    '<details open><p>build-42</p></details>',
    '<details><summary>build-42</summary>x</details>',
    '<svg><text>build-42</text></svg>',
    'x < 3\nbuild-42',
  ],
  never: [
    '<div id=app></div><script>{"t":"build-42"}</script>',
    '<details><summary>x</summary>build-42</details>',
    '<textarea>build-42</textarea>',
    '<select><option>build-42</select>',
    '<!-- build-42 --><p>x</p>',
    '<p data-build="build-42">x</p>',
    '<img alt="build-42"><a href="/x?build-42">x</a>',
    '<title>build-42</title><p>x</p>',
    '<svg><title>build-42</title></svg>x',
    '<meta property="og:title" content="build-42">x',
    '<style>/* build-42 */</style>x',
    '<template><p>build-42</p></template>x',
    '<noscript>build-42</noscript>x',
    '<p hidden>build-42</p>x',
    '<div style="color: red; display:none"><p>build-42</p></div>x',
    '<dialog>build-42</dialog>x',
    '<input value="build-42">x',
    '<video>build-42</video>x',
  ],
};

describe('the text of a page', () => {
  test.each(Object.entries(PAGES).flatMap(([when, pages]) => pages.map((html) => [when, html] as const)))(
    'is shown %s in %s',
    (when, html) => {
      expect([readVisibleText(html).includes('build-42'), shows(html, 'build-42')]).toEqual([
        when !== 'never',
        when !== 'never',
      ]);
    },
  );

  test.each([
    ['<p>a &amp; b</p>', 'a &amp; b', true],
    ['<p>a &amp; b</p>', 'a & b', true],
    ['<h1 class=x>Report</h1>', '<h1 class=x>Report</h1>', true],
    ['<script>show("<b>build</b> 42")</script>', '<b>build</b> 42', false],
    // A marker without a text of its own.
    ...['<!doctype html>', '<p>', '<img alt="Report">', '&nbsp;'].map(
      (marker) => [`<!doctype html>${marker}<p>&nbsp;Report</p>`, marker, false] as const,
    ),
  ])('of %s shows the marker %s: %s', (html, marker, expected) => {
    expect(shows(html, marker)).toBe(expected);
  });

  test.each(['<script>', '<iframe srcdoc="', '<b>', '<p hidden>', '<title>', '<input value="'])(
    'of many %s is read in linear time',
    (start) => {
      const html = start.repeat(1_000_000 / start.length);
      expect(finish(() => shows(html, 'build 42'))).toBe(false);
    },
  );
});

test.each([
  ['<h1>{{ title }}</h1>{% for a in b %}<p>{{ title }} of <%= shop %></p>', '{{ title }} {% for a in b %}'],
  ['<p>Dear <%= name %></p>', '<%= name %>'],
  ['<div id=app><h1>{{ title }}</h1></div><script src=vue.js></script>', ''],
  ['<p>Write <code>{{ title }}</code></p><pre>{% for a in b %}</pre><p hidden>{{ a }}</p>', ''],
  ['<p>In a workflow: ${{ github.sha }}. The set {{1,2},{3}}; 5 % {a}</p><!-- {{ a }} -->', ''],
])('The template tags that nothing fills in %j are %j.', (html, tags) => {
  expect(findUnfilledTags(html).join(' ')).toBe(tags);
});
