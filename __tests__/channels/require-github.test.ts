import { expect, test } from '@jest/globals';
import { requireGitHub } from '../../src/channels/require-github.ts';
import { FakeGitHub } from '../github/fake-github.ts';

test('a channel that needs a token gets the repository’s API', () => {
  const github = new FakeGitHub();
  expect(requireGitHub(github, 'K1')).toBe(github);
});

test('without a token it is refused with the YAML to add and the channel that needs none', () => {
  expect(() => requireGitHub(null, 'K2')).toThrow(
    expect.objectContaining({
      code: 'NO_TOKEN',
      step: 'authorize',
      message: 'channel K2 needs a token and a repository',
      hint: expect.stringMatching(/token: \$\{\{ github\.token \}\}.*contents: write.*K3/),
    }),
  );
});
