import { describe, expect, test } from '@jest/globals';
import { getCommitIdentity, getTokenOwner } from '../../../src/github/api/token-owner.ts';
import { FakeGitHub, failure } from '../fake-github.ts';

const ownedBy = (login: string, databaseId?: number): FakeGitHub =>
  new FakeGitHub({ graphql: { data: { viewer: { login, databaseId } } } });

const JOB = 'github-actions[bot]';

// We couldn't recognize our own items.
test.each([{}, { data: null }, { data: { viewer: null } }, { data: { viewer: { login: '' } } }])(
  'getTokenOwner fails where the answer is %j',
  async (graphql) => {
    await expect(getTokenOwner(new FakeGitHub({ graphql }))).rejects.toMatchObject({
      code: 'NO_PERMISSION',
      message: 'GitHub did not return whose token this is',
    });
  },
);

describe('getCommitIdentity', () => {
  test.each([
    [JOB, 41898282, '41898282+github-actions[bot]@users.noreply.github.com'],
    ['octo', 583231, '583231+octo@users.noreply.github.com'],
    ['other-app[bot]', 7, '7+other-app[bot]@users.noreply.github.com'],
  ])('is the private email address of %s (%s)', async (login, id, email) => {
    await expect(getCommitIdentity(ownedBy(login, id))).resolves.toEqual({ name: login, email });
  });

  test('has the host of an Enterprise Server in the email address', async () => {
    const github = Object.assign(ownedBy('octo', 5), { apiUrl: new URL('https://ghe.test/api/v3') });
    await expect(getCommitIdentity(github)).resolves.toMatchObject({
      email: '5+octo@users.noreply.ghe.test',
    });
  });

  test.each([
    ['the account is not known', new FakeGitHub({ graphql: failure('NO_PERMISSION', 403) })],
    ['the account has no number', ownedBy('octo')],
  ])('is an email address of nobody if %s', async (_, github) => {
    await expect(getCommitIdentity(github)).resolves.toEqual({
      name: 'screen-delivery',
      email: 'screen-delivery@noreply.invalid',
    });
  });
});
