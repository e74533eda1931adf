import { expect, test } from '@jest/globals';
import { gradeMedia } from '../../../src/rules/page/media-queries.ts';

test.each([
  ['start', ''],
  ['start', 'all'],
  ['start', 'ONLY SCREEN'],
  ['start', 'not print'],
  ['start', 'print, screen'],
  ['start', '(min-width: 768px) and (max-width:1400px)'],
  ['start', 'screen and (min-width: 48em)'],
  ['start', '(width >= 600px) and (prefers-color-scheme: light)'],
  ['start', '(600px<width<=80rem)'],
  ['start', '(hover) and (pointer: fine)'],
  ['start', '(min-resolution: 96dpi) and (-webkit-max-device-pixel-ratio: 1)'],
  ['start', '(min-width: 0)'],
  ['conditional', '(max-width: 600px)'],
  ['conditional', '(min-width: 1280.5px)'],
  ['conditional', '(width < 600px)'],
  ['conditional', '(100px <= width < 600px)'],
  ['conditional', '(prefers-color-scheme: dark)'],
  ['conditional', 'print, (prefers-color-scheme: dark)'],
  ['conditional', 'screen and (orientation: portrait)'],
  ['conditional', '(min-resolution: 2dppx)'],
  ['conditional', '(-webkit-min-device-pixel-ratio: 1.5)'],
  ['conditional', 'screen and (min-width: 0\\0)'],
  ['conditional', '(min-width: 10vw)'],
  ['conditional', 'not screen and (min-width: 600px)'],
  ['conditional', 'not (hover)'],
  ['conditional', '(unknown)'],
  ['conditional', '((hover) or (color))'],
  ['later', 'print'],
  ['later', 'print and (min-width: 1px), speech'],
  ['later', 'not all'],
  ['later', 'not screen'],
  ['later', 'tty'],
])('what a browser uses %s is below the media query %j', (grade, query) => {
  expect(gradeMedia(query)).toBe(grade);
});
