import { expect, test } from '@jest/globals';
import { createRedactor } from '../../src/credentials.ts';
import { createCallLogger } from '../../src/mcp/session.ts';
import { captureOutput } from '../cli/terminals.ts';
import { FakeClock } from '../support/ports.ts';

const SECRET = 'ghp_AbCd0123';
const output = captureOutput();

function setUp() {
  const sent: string[] = [];
  const clock = new FakeClock();
  const logger = createCallLogger('deliver 1', createRedactor(), clock, (line) => void sent.push(line));
  logger.mask(SECRET);
  return { sent, logger };
}

test('every line goes to stderr and to the client, on one line and without secrets', () => {
  const { sent, logger } = setUp();
  logger.startSection('Check a.html');
  logger.info(`the token ${SECRET}`);
  logger.warning('two\nlines\u001b[2J\u202e');
  logger.debug('not shown');
  const lines = ['Check a.html', 'the token ***', 'warning: two lines [2J\\u202e'];
  expect(sent).toEqual(lines);
  expect(output.stderr).toBe(lines.map((line) => `deliver 1: ${line}\n`).join(''));
  expect(output.stdout).toBe('');
});
