import { describe, expect, test } from '@jest/globals';
import { createActionLogger, escapeLogLine } from '../../src/action/log.ts';
import { createRedactor } from '../../src/credentials.ts';
import { FakeClock } from '../support/ports.ts';
import { inStep } from './runner.ts';

const TOKEN = 'ghs_0123456789abcdef';

describe('escapeLogLine', () => {
  test.each([
    ['::error::boo', ': :error::boo'],
    ['  ::set-output name=url::x', '  : :set-output name=url::x'],
    ['a\n::add-mask::x', 'a ::add-mask::x'],
    ['a\r\u2028b\u0085c', 'a b c'],
    ['##[error]boo', '## [error]boo'],
    ['a ##[group]b', 'a ## [group]b'],
    ['a::b', 'a::b'],
    ['a\u202eb\u2066c\u200bd\u034fe', 'a\\u202eb\\u2066c\\u200bd\\u034fe'],
    ['a\u001b[2Kb\u009bc', 'a [2Kb c'],
  ])('turns %j into %j', (text, line) => {
    expect(escapeLogLine(text)).toBe(line);
  });
});

describe('createActionLogger', () => {
  test('writes neither a credential nor a command in any kind of line', async () => {
    await inStep({}, async ({ printed }) => {
      const logger = createActionLogger(createRedactor(), new FakeClock());
      for (const secret of ['', TOKEN]) logger.mask(secret);
      logger.info(`::error::${TOKEN}`);
      logger.warning(`a\n::error::${TOKEN}`);
      logger.startSection(`title ${TOKEN}\n::error::x`);
      logger.startSection('next');
      logger.endSection();
      logger.endSection();
      expect(printed().split('\n')).toEqual([
        `::add-mask::${TOKEN}`,
        ': :error::***',
        '::warning::a ::error::***',
        '::group::title *** ::error::x',
        '::endgroup::',
        '::group::next',
        '::endgroup::',
        '',
      ]);
    });
  });
});
