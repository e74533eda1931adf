import { describe, expect, test } from '@jest/globals';
import { composeComment } from '../../src/action/comment-body.ts';
import { formatPicture } from '../../src/action/picture-markdown.ts';
import { composeSummary } from '../../src/action/summary.ts';
import type { PictureReport } from '../../src/delivery/screen/picture-report.ts';
import { PAGE } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { reportWith, withdrawn } from './reports.ts';

const picture: PictureReport = {
  url: `${PAGE.href}.png`,
  sha256: '0123456789abcdef0123',
  alternative: 'Picture of <b>@octo</b> ](x)',
  beforeUrl: null,
  changed: null,
};
const report = { ...reportWith(), picture };
const SHOWN = `[![Picture of `;
const ADDRESS = `(<${PAGE.href}.png?v=0123456789abcdef>)](<${PAGE.href}>)`;

describe('formatPicture', () => {
  test('links the picture to the page, with its alternative text as plain text', () => {
    const markdown = formatPicture(report);
    expect(markdown.startsWith(SHOWN)).toBe(true);
    expect(markdown.endsWith(`]${ADDRESS}`)).toBe(true);
    expect(markdown.slice(SHOWN.length, -ADDRESS.length - 1)).not.toMatch(/[<>@[\]]/);
  });

  test('shows before and after beside each other, and how much changed', () => {
    const before = `${PAGE.href}.before.png`;
    const markdown = formatPicture({ ...report, picture: { ...picture, beforeUrl: before, changed: 0.123 } });
    expect(markdown.split('\n')[0]).toBe('| Before | After |');
    expect(markdown).toContain(`, before](<${before}?v=`);
    expect(markdown).toMatch(/\*\*Changed:\*\* 12 % of the picture$/);
  });

  test('says that nothing changed', () => {
    expect(formatPicture({ ...report, picture: { ...picture, changed: 0 } })).toMatch(
      /looks the same as before/,
    );
  });

  test.each([
    ['without a picture', { ...report, picture: null }],
    ['of a delivery that is not ready', { ...report, ready: false, url: null }],
    ['of a withdrawal', withdrawn(report)],
    ['whose address was withheld', { ...report, picture: { ...picture, url: null as unknown as string } }],
  ])('is empty %s', (_, one) => {
    expect(formatPicture(one)).toBe('');
  });

  test('is part of the summary and of the comment, also of several files', () => {
    const context = { marker: '<!-- m -->', now: NOON, headSha: null, runUrl: null };
    for (const reports of [[report], [report, reportWith()]]) {
      expect(composeSummary(reports)).toContain(ADDRESS);
      expect(composeComment(reports, context)).toContain(ADDRESS);
    }
  });
});
