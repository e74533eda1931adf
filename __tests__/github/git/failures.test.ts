import { describe, expect, test } from '@jest/globals';
import type { DeliveryError } from '../../../src/errors.ts';
import { gitError } from '../../../src/github/git/repository.ts';

const failWith = (err: string, secrets: readonly string[] = []): DeliveryError =>
  gitError('pushing', { exitCode: 128, out: '', err }, { online: true, secrets });

/** Messages that only the real host writes, or after failures that cannot be produced here. */
describe('gitError', () => {
  test.each<[string, string, RegExp]>([
    ["fatal: Authentication failed for 'https://github.com/o/r.git/'", 'BAD_TOKEN', /`token:`/],
    ['error: RPC failed; HTTP 403 curl 22 returned error: 403', 'NO_PERMISSION', /contents: write/],
    ['remote: Permission to o/r.git denied to someone.', 'NO_PERMISSION', /Contents: Read and write/],
    [
      '! [remote rejected] main -> main (refusing to allow a GitHub App to create or update workflow `.github/workflows/a.yml` without `workflows` permission)',
      'NO_PERMISSION',
      /outside .github\/workflows/,
    ],
    ['error: RPC failed; HTTP 413 curl 22', 'TOO_LARGE', /K2/],
    ['!\trefs/heads/main\t[rejected] (non-fast-forward)', 'CONFLICT', /another job/],
    ["fatal: unable to access 'x': certificate verification failed", 'CONNECTION', /NODE_EXTRA_CA_CERTS/],
    ["fatal: unable to access 'x': Could not resolve host: github.com", 'NO_NETWORK', /https_proxy/],
    ['fatal: CONNECT tunnel failed, response 407', 'NO_NETWORK', /https_proxy/],
    ['! [remote rejected] main (Internal Server Error)', 'HOST_ERROR', /try again/],
    ['send-pack: unexpected disconnect while reading sideband packet', 'CONNECTION', /try again/],
    ['error: Cannot access URL https://github.com/o/r.git/, return code 22', 'CONNECTION', /try again/],
    ["fatal: unable to access 'x': The requested URL returned error: 301", 'NOT_FOUND', /has moved/],
    ["fatal: couldn't find remote ref refs/heads/main", 'NOT_FOUND', /`branch:` exist/],
    ['remote: Repository not found.', 'NOT_FOUND', /`repository:` and `branch:` exist/],
    ['fatal: something unknown', 'HOST_ERROR', /try again/],
    ['', 'HOST_ERROR', /try again/],
  ])('explains %j: %s', (err, code, hint) => {
    const isFinal = /certificate|unknown|^$/.test(err);
    const retryable = !isFinal && ['CONFLICT', 'CONNECTION', 'NO_NETWORK', 'HOST_ERROR'].includes(code);
    expect(failWith(err)).toMatchObject({ code, retryable, hint: expect.stringMatching(hint) });
  });

  test("quotes the host's reason without git's own words", () => {
    const err =
      'remote: \nremote: error: GH006: Protected branch update failed for refs/heads/main.        \nremote: \nremote: - Changes must be made through a pull request.\n ! [remote rejected] x -> main (protected branch hook declined)';
    const message =
      'pushing failed: GH006: Protected branch update failed for refs/heads/main.; - Changes must be made through a pull request.';
    expect(failWith(err)).toMatchObject({ code: 'FORBIDDEN_BY_RULE', message });
  });

  test('takes a failure of an offline command for one of this machine, whatever its message', () => {
    const err = 'fatal: No space left on device; HTTP 403';
    const failure = gitError('writing', { exitCode: 128, out: '', err }, { online: false, secrets: [] });
    expect(failure).toMatchObject({ code: 'LOCAL', retryable: false });
  });

  test('has no secret in its message, which is limited in length', () => {
    const secrets = ['ghs_secret', Buffer.from('x-access-token:ghs_secret').toString('base64')];
    const { message } = failWith(`fatal: ${secrets.join(' and ')} ${'long '.repeat(1000)}`, secrets);
    for (const secret of secrets) expect(message).not.toContain(secret);
    expect(message.length).toBeLessThan(400);
  });
});
