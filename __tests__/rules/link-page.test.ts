import { expect, test } from '@jest/globals';
import { findAdditions, isGatePage } from '../../src/rules/link-page.ts';
import { measureCpuTime } from './cpu-time.ts';

test('A page with additions in several places is the page, whatever they are.', () => {
  const file = '<!doctype html><html><head><title>A</title></head><body><p>One</p><p>Two</p></body></html>';
  const page = file
    .replace('<head>', '<head><script src="x.js"></script><style>a{}</style>')
    .replace('<p>Two', '<aside><img src=a><br/>Hosted <a href="#">here</a></aside>\n<p>Two')
    .replace('</body>', '<!-- 12 ms --></body>');
  expect(findAdditions(file, page)).toEqual([
    '<script>',
    '<style>',
    '<aside>',
    '<img>',
    '<br>',
    '“Hosted”',
    '<a>',
    '“here”',
  ]);
  expect(findAdditions(file, file)).toEqual([]);
});

test.each(['<!--', '<script>', '<div', '<', '<p>', '</p>', '<svg><style>', '<a ', '<input '])(
  'Of many %s additions and forms are found fast.',
  (start) => {
    const page = start.repeat(1_000_000 / start.length);
    expect(measureCpuTime(() => findAdditions('<b>x</b>', `${page}<b>x</b>`))).toBeLessThan(1_000);
    expect(measureCpuTime(() => isGatePage(page))).toBeLessThan(1_000);
  },
);
