import { describe, expect, test } from '@jest/globals';
import { requireGitHub } from '../../src/channels/require-github.ts';
import { FakeGitHub, failure } from '../github/fake-github.ts';
import { accessWith } from './repository-context.ts';

describe('requireGitHub', () => {
  test('returns the API of the repository where there is a token', () => {
    const github = new FakeGitHub();
    expect(requireGitHub(accessWith(github), 'K1')).toBe(github);
  });

  test('refuses without a token, with the permission that it needs and the channel that needs none', () => {
    expect(() => requireGitHub(accessWith(null), 'K2')).toThrow(
      expect.objectContaining({
        code: 'NO_TOKEN',
        step: 'authorize',
        message: 'channel K2 needs a token and a repository',
        hint: expect.stringMatching(
          /`token:` .*contents: write.*\$\{\{ github\.token \}\}`, and `repository:`, or .*K3/,
        ),
      }),
    );
  });

  test('names the token alone where a repository is given', () => {
    expect(() => requireGitHub({ ...accessWith(null), isRepositoryGiven: true }, 'K2')).toThrow(
      expect.objectContaining({
        message: 'channel K2 needs a token',
        hint: expect.not.stringContaining('repository:'),
      }),
    );
  });

  test('throws the reason why the device flow gave no token', () => {
    const declined = failure('NOT_AUTHORIZED');
    expect(() => requireGitHub(accessWith(null, { authorizationError: declined }), 'K1')).toThrow(declined);
  });
});
