import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { CommentMemory, ProvenLink } from '../../src/action/comment-memory.ts';
import { composeComment, composeSummary, rememberLinks } from '../../src/action/overview.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { memorySite } from '../channels/pages/site/memory-files.ts';
import { attemptWith, PAGE, placementWith, planWith } from '../delivery/builders.ts';
import { NOON } from '../support/ports.ts';
import { lateFile, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

const MEMORY: CommentMemory = { mark: '<!-- marker', run: [4242, 1], proven: [], lost: [] };
const context = {
  subject: 'Preview',
  now: NOON,
  headSha: 'c0ffee0123456789c0ffee0123456789c0ffee01',
  runUrl: 'https://github.com/octo/site/actions/runs/4242',
};
/** The lines of a report have tests of their own. */
const LINES = { CLAIM: 'a claim', CODE: 'the code', TEST: 'a test', RESULT: 'a result', UNKNOWN: '' };
const brief = (reports: readonly Report[]): Report[] =>
  reports.map((report) => ({ ...report, lines: LINES }));
const summary = (...reports: readonly Report[]): string => composeSummary(brief(reports));
const comment = (reports: readonly Report[], earlier: readonly ProvenLink[] = []): string => {
  const proven = rememberLinks(reports, context, earlier);
  return composeComment(brief(reports), context, { ...MEMORY, proven });
};

const FILES = {
  'index.html': 'page',
  'new.html': 'page',
  'app.js': 'script',
  'logo.svg': 'a picture in SVG',
};
const site = (changes: Readonly<Record<string, readonly string[]>>): Report =>
  reportWith({
    subject: 'dist/',
    site: memorySite(FILES),
    main: attemptWith({
      placement: placementWith({
        url: new URL('https://octo.github.io/site/'),
        changes: { added: [], changed: [], removed: [], kept: [], removedFolders: [], ...changes },
        treeSha: '7ree',
        servedSize: 2_621_440,
      }),
      identicalFiles: 4,
    }),
  });
const update = site({ added: ['new.html'], changed: ['index.html'], removed: ['old.js'] });
const findings = [
  'index.html line 1: the picture a.png is missing',
  'index.html line 2: the picture b.png is missing',
];
const refused = new DeliveryError('BAD_FILE', 'the folder dist/ is not complete', {
  step: 'check',
  hint: 'add the `files`',
  findings,
});
const picture = { url: `${PAGE.href}.png`, sha256: '0123456789abcdef0123', alternative: 'Picture of it' };
const duplicates = [attemptWith({ plan: planWith({ channel: 'K3' }) })];
const incomplete = reportWith({ subject: 'dist/', main: null, failure: refused });
const earlier = [
  { name: 'dist/', url: 'https://octo.github.io/site/', commit: 'c0ffee0', time: NOON },
  { name: '[@a]<b>-->.html', url: 'https://octo.github.io/site/b.html', commit: null, time: NOON },
];

/** What people see of a delivery, by its state. */
const STATES: Readonly<Record<string, () => string>> = {
  'the summary of a file with a duplicate, a note and a doubt': () =>
    summary({ ...reportWith({ duplicates }), notes: ['the bin expires'], unknown: ['a doubt'] }),
  'the summary of a file whose earlier version a cache still shows': () => summary(lateFile('page.html')),
  'the summary of a file that is not ready': () => summary(unprovenFile('page.html')),
  'the summary of what was withdrawn': () => summary(withdrawn(provenFile('page.html'))),
  'the summary of a dry run': () => summary(planned('page.html')),
  'the summary of a site': () => summary({ ...update, notes: ['a note'] }),
  'the summary of a site that is not complete': () => summary(incomplete),
  'the summary of a page with its pictures': () =>
    summary({
      ...provenFile('page.html'),
      picture: { ...picture, beforeUrl: `${PAGE.href}.before.png`, changed: 0.123 },
    }),
  'the comment on several files and sites': () =>
    comment([
      { ...provenFile('a.html'), notes: ['a note'] },
      lateFile('late.html'),
      { ...unprovenFile('b.html'), notes: ['a note'], unknown: ['a doubt'] },
      planned('c.html'),
      withdrawn(provenFile('d.html')),
      update,
    ]),
  'the comment after a failure, with what was proven before': () => comment([incomplete], earlier),
};

const PICTURES = Object.fromEntries(
  readFileSync(new URL('pictures.md', import.meta.url), 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
);

/** The report itself is in three pictures. */
const isWhole = (name: string): boolean => /with a duplicate|withdrawn$|several/.test(name);
const REPORT = /<details><summary>Details<\/summary>\n\n.*?\n\n<\/details>\n\n?/s;

test.each(Object.entries(STATES))('%s looks as in pictures.md', (name, compose) => {
  const text = isWhole(name) ? compose() : compose().replace(REPORT, '');
  expect(`${shown(text).trimEnd()}\n\n`).toBe(PICTURES[name]);
});
