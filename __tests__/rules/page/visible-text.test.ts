import { describe, expect, test } from '@jest/globals';
import { mayShowText, readVisibleText } from '../../../src/rules/page/visible-text.ts';
import { measureCpuTime } from '../cpu-time.ts';

describe('the visible text of a page', () => {
  test.each([
    ['a paragraph', '<p>build-42</p>'],
    ['two elements', '<b>build-</b><i>42</i>'],
    ['an entity', '<p>build&#45;42</p>'],
    ['other line breaks', '<p>build-\n42</p>'],
    ['an open detail', '<details open><p>build-42</p></details>'],
    ['the title of a closed detail', '<details><summary>build-42</summary>x</details>'],
    ['a drawing', '<svg><text>build-42</text></svg>'],
    ['plain text without elements', 'build-42'],
  ])('has what stands in %s', (_, html) => {
    expect(readVisibleText(html)).toContain('build-42');
  });

  test.each([
    ['a comment', '<!-- build-42 --><p>x</p>'],
    ['an attribute', '<p data-build="build-42">x</p>'],
    ['a title', '<title>build-42</title><p>x</p>'],
    ['a script', '<script>const build = "build-42"</script><p>x</p>'],
    ['a template', '<template><p>build-42</p></template>'],
    ['a hidden element', '<p hidden>build-42</p>'],
    ['an element below a hidden one', '<div style="color: red; display:none"><p>build-42</p></div>'],
    ['a closed detail', '<details><summary>x</summary>build-42</details>'],
    ['a closed dialog', '<dialog>build-42</dialog>'],
  ])('has nothing of %s', (_, html) => {
    expect(readVisibleText(html)).not.toContain('build-42');
  });
});

describe('the text that a page may show', () => {
  test.each([
    ['a paragraph', '<p>a &amp; b</p>', 'a &amp; b'],
    ['the text of its marker', '<p>a &amp; b</p>', 'a & b'],
    ['its markup', '<h1 class=x>Report</h1>', '<h1 class=x>Report</h1>'],
    ['data of a script', '<div id=app></div><script>{"t":"build 42"}</script>', 'build 42'],
    ['the source of a script', '<script>show("<b>build</b> 42")</script>', '<b>build</b> 42'],
    ['a closed detail', '<details><summary>x</summary>build 42</details>', 'build 42'],
    ['a text area', '<textarea>build 42</textarea>', 'build 42'],
    ['a field', '<input value="build 42" readonly>', 'build 42'],
    ['an option', '<select><option>build 42</select>', 'build 42'],
    ['a frame', '<iframe srcdoc="<p>build 42</p>"></iframe>', 'build 42'],
    ['a file without markup', 'x < 3\nbuild 42', 'build 42'],
  ])('has what stands in %s', (_, html, marker) => {
    expect(mayShowText(html, marker)).toBe(true);
  });

  test.each([
    ['an attribute', '<div data-x="build 42">x</div>'],
    ['the text of a picture', '<img alt="build 42"><p>x</p>'],
    ['an address', '<a href="/x?build 42">x</a>'],
    ['a hidden element', '<p hidden>build 42</p>x'],
    ['an element with a hidden style', '<p style="display: none">build 42</p>x'],
    ['a template', '<template><p>build 42</p></template>x'],
    ['what is for browsers without scripts', '<noscript>build 42</noscript>x'],
    ['a style', '<style>/* build 42 */</style>x'],
    ['a comment', '<!-- build 42 -->x'],
    ['the title', '<title>build 42</title>x'],
    ['metadata', '<meta property="og:title" content="build 42">x'],
    ['the title of a drawing', '<svg><title>build 42</title></svg>x'],
    ['a hidden field', '<input type=hidden value="build 42">x'],
    ['a password', '<input type=password value="build 42">x'],
    ['a closed dialog', '<dialog>build 42</dialog>x'],
    ['a hidden part of a frame', '<iframe srcdoc="<p hidden>build 42</p>"></iframe>x'],
    ['what a film has in its place', '<video>build 42</video>x'],
  ])('has nothing of %s', (_, html) => {
    expect(mayShowText(html, 'build 42')).toBe(false);
  });

  test.each(['<!doctype html>', '<p>', '<img alt="Report">', '&nbsp;'])(
    'has nothing of a marker without a text of its own: %s',
    (marker) => {
      expect(mayShowText(`<!doctype html>${marker}<p>&nbsp;Report</p>`, marker)).toBe(false);
    },
  );

  test.each(['<script>', '<iframe srcdoc="', '<b>', '<p hidden>', '<title>', '<input value="'])(
    'of many %s is read fast',
    (start) => {
      const html = start.repeat(65_536 / start.length);
      expect(measureCpuTime(() => mayShowText(html, 'build 42'))).toBeLessThan(1_000);
    },
  );
});
