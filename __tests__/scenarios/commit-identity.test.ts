import { expect, test } from '@jest/globals';
import { getUserId, LOGINS } from '../world/tokens.ts';
import { setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
/** Several files go through git. */
const files = { 'out/a.html': '<p>a</p>', 'out/b.html': '<p>b</p>' };
const inputs = { channel: 'K1', file: 'out/*.html' };

test.each([
  ["the job's bot", LOGINS.workflow, '41898282+github-actions[bot]'],
  ['a user', LOGINS.human, `${getUserId(LOGINS.human)}+human`],
])(
  'commits that git pushes with the token of %s are by that account, with its id',
  async (_, login, name) => {
    const repository = await scenario.repository();
    const token = scenario.world.token({}, login);
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, token } });
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.stdout).toContain("method C, git's own protocol");
    const person = `${login} <${name}@users.noreply.github.com>`;
    const commits = (await repository.log()).slice(0, 2);
    expect(commits.map(({ author, committer }) => [author, committer])).toEqual([
      [person, person],
      [person, person],
    ]);
  },
);
