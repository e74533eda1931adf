import { expect, test } from '@jest/globals';
import { getUserId, LOGINS } from '../world/tokens.ts';
import { setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
/** Several files go through git. */
const files = { 'out/a.html': '<p>a</p>', 'out/b.html': '<p>b</p>' };

test.each([
  ["the job's bot", LOGINS.workflow, '41898282+github-actions[bot]'],
  ['a user', LOGINS.human, `${getUserId(LOGINS.human)}+human`],
])(
  'commits that git pushes with the token of %s are by that account, with its id',
  async (_, login, name) => {
    const repository = await scenario.repository();
    const token = scenario.world.token({}, login);
    const inputs = { channel: 'K1', file: 'out/*.html', token };
    const delivered = await scenario.deliver({ repository, files, inputs });
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.stdout).toContain("method C, git's own protocol");
    const person = `${login} <${name}@users.noreply.github.com>`;
    const byPerson = `${person}, ${person}`;
    expect((await repository.authors()).slice(0, 2)).toEqual([byPerson, byPerson]);
  },
);
