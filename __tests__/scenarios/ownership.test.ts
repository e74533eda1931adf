import { expect, test } from '@jest/globals';
import type { HostedRepository, TestRepository } from '../world/repository.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const PATH = 'previews/page.html';
const inputs = { channel: 'K1', path: PATH };
const FOREIGN = '<p>written by a person</p>';

/** Delivers a page, and returns the message of its commit. */
async function deliverFirst(repository: TestRepository): Promise<string> {
  const first = await scenario.deliver({ repository, files: { 'page.html': createPage('first') }, inputs });
  await expectReady(scenario, first, { channel: 'K1', shows: createPage('first') });
  return (await repository.log())[0]?.message ?? '';
}

test.each<[string, (message: string) => string]>([
  ['an amended commit', (message) => message],
  ['a squash merge', (message) => `Add previews (#12)\n\n* ${message}\n\n* fix the page`],
  ['a cherry-pick', (message) => `${message}\n(cherry picked from commit ${'a'.repeat(40)})`],
  ['a quoted trailer', () => 'Explain the trailer\n\nDelivered-by: screen-delivery'],
])("a person's file is neither replaced nor withdrawn after %s", async (_, messageOf) => {
  const repository = await scenario.repository();
  const message = await deliverFirst(repository);
  await repository.commit(PATH, FOREIGN, messageOf(message));
  const files = { 'page.html': createPage('second') };
  const second = await scenario.deliver({ repository, files, inputs });
  expectNotReady(second, { step: 'place', reason: /this tool did not deliver what it holds now$/ });
  const withdrawn = await scenario.deliver({ repository, inputs: { ...inputs, operation: 'withdraw' } });
  expectNotReady(withdrawn, { step: 'place', reason: /this tool did not deliver what it holds now$/ });
  expect((await repository.read(PATH))?.toString()).toBe(FOREIGN);
});

test('an own file is replaced although a tag has the same name as the branch', async () => {
  const repository = await scenario.repository();
  const before = await repository.head();
  await deliverFirst(repository);
  await (repository as HostedRepository).git.updateRef(`refs/tags/${repository.branch}`, before ?? '', null);
  const files = { 'page.html': createPage('second') };
  const second = await scenario.deliver({ repository, files, inputs });
  await expectReady(scenario, second, { channel: 'K1', shows: createPage('second') });
});

test('withdrawing a folder removes only owned files, and names the one that stays', async () => {
  const repository = await scenario.repository();
  await deliverFirst(repository);
  await repository.commit('previews/notes.html', FOREIGN, 'Add my notes');
  const withdrawn = await scenario.deliver({
    repository,
    inputs: { channel: 'K1', path: 'previews/', operation: 'withdraw' },
  });
  expect(withdrawn.exitCode).toBe(0);
  expect(withdrawn.stdout).toMatch(/::warning::not removed: previews\/notes\.html already exists/);
  expect(await repository.read(PATH)).toBeNull();
  expect((await repository.read('previews/notes.html'))?.toString()).toBe(FOREIGN);
});

test('a file that the site or the repository obeys is refused, and a page beside it is delivered', async () => {
  const repository = await scenario.repository();
  const special = ['CNAME', 'CODEOWNERS', '.gitattributes', '.gitmodules', '_config.yml'];
  const files = Object.fromEntries(special.map((name) => [name, 'octo.dev\n']));
  const delivered = await scenario.deliver({
    repository,
    files: { ...files, 'page.html': createPage() },
    inputs: { channel: 'K1', file: [...special, 'page.html'].join('\n') },
  });
  expect(delivered.reports.map(({ notReady }) => notReady?.reason)).toEqual([
    ...special.map((name) => expect.stringContaining(`${name} is not only a page: it `)),
    undefined,
  ]);
  for (const name of special) expect(await repository.read(name)).toBeNull();
  expect((await repository.read('page.html'))?.toString()).toBe(createPage());
});
