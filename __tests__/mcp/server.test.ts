import { expect, test } from '@jest/globals';
import { describeAccount } from '../../src/mcp/server.ts';

test.each([
  ['x', {}, { GITHUB_REPOSITORY: 'octo/env' }, 'a token, and publishes in octo/env'],
  [
    'x',
    { repository: 'octo/flag' },
    { GITHUB_REPOSITORY: 'octo/env' },
    'a token, and publishes in octo/flag',
  ],
  ['', {}, {}, 'no token, and no repository of its own'],
])('the server says whether token and repository are set (%#)', (token, fixed, env, said) => {
  expect(describeAccount({ token, fixed, env })).toBe(`This server has ${said}.`);
});
