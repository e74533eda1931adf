import { expect, test } from '@jest/globals';
import { composeAnswer } from '../../src/delivery/answer.ts';
import { type Report, refusalReport } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';

const refused = refusalReport('a.html', new DeliveryError('BAD_FILE', 'it is empty', { hint: 'fill it' }));
const planned = refusalReport('a.html', new DeliveryError('DRY_RUN', 'this is a dry run'));
const ready = (url: string): Report => ({ ...refused, ready: true, url, notReady: null });
const withdrawn: Report = {
  ...refused,
  ready: true,
  operation: 'withdraw',
  withdrawn: 'https://octo.github.io/a.html',
  notReady: null,
};
const NOTHING = { url: '', reason: '', hint: '' };

test.each<[string, readonly Report[], object]>([
  [
    'one file is its address',
    [ready('https://a.b/1')],
    { ...NOTHING, result: 'ready', url: 'https://a.b/1' },
  ],
  [
    'several files are a line each',
    [ready('https://a.b/1'), ready('https://a.b/2')],
    { ...NOTHING, result: 'ready', url: 'https://a.b/1\nhttps://a.b/2' },
  ],
  [
    'one failure withholds the address and says why',
    [ready('https://a.b/1'), refused],
    { result: 'not-ready', url: '', reason: 'it is empty', hint: 'fill it' },
  ],
  ['a dry run has no address and no reason', [planned], { ...NOTHING, result: 'planned' }],
  [
    'a dry run in which one file is refused names that file’s reason',
    [planned, refused],
    { result: 'not-ready', url: '', reason: 'it is empty', hint: 'fill it' },
  ],
  ['a withdrawal has no address to give', [withdrawn], { ...NOTHING, result: 'withdrawn' }],
  ['nothing at all is not ready', [], { ...NOTHING, result: 'not-ready' }],
])('the answer for %s', (_, reports, answer) => {
  expect(composeAnswer(reports)).toEqual({ ...answer, reports });
});
