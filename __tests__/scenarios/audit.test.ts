import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import type { TestRepository } from '../world/repository.ts';
import { type Played, requestsOf, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();

const deliver = async (repository: TestRepository, path: string, text = createPage(path)): Promise<void> => {
  const files = { 'page.html': text };
  const { report } = await play.deliver({ repository, files, inputs: { channel: 'K1', path } });
  expect(report.notReady).toBeNull();
};

const SITE = { 'dist/index.html': createPage('site'), 'dist/app.js': 'first\n', 'dist/a/b.css': 'p {}\n' };
const deliverSite = async (repository: TestRepository, path: string, files: object = SITE): Promise<void> => {
  const inputs = { channel: 'K1', file: 'dist/', path, nojekyll: 'true' };
  const { report } = await play.deliver({ repository, files: { ...files }, inputs });
  expect(report.notReady).toBeNull();
};

const withdraw = (repository: TestRepository, path: string): Promise<Played> =>
  play.deliver({ repository, inputs: { channel: 'K1', path, operation: 'withdraw' } });
const audit = (repository: TestRepository, inputs: object = {}): Promise<Played> =>
  play.deliver({ repository, inputs: { operation: 'audit', ...inputs } });

/** The verdict of each delivery by its place. */
const verdicts = ({ reports }: Pick<Played, 'reports'>): Record<string, unknown> =>
  Object.fromEntries(reports.map((report) => [report.file?.path, report.verdict]));
const reportOn = ({ reports }: Played, path: string): Report => {
  const found = reports.find(({ file }) => file?.path === path);
  if (found === undefined) throw new Error(`There is no report on ${path}`);
  return found;
};
const answerOf = (repository: TestRepository, path: string) =>
  new RegExp(`^${RegExp.escape(repository.pages.url + path)}(?:\\?|$)`);

describe('an audit', () => {
  test('proves files and folders by the bytes that the branch holds, and writes nothing', async () => {
    const repository = await play.repository();
    await deliver(repository, 'one.html');
    await deliverSite(repository, 'docs/');
    await repository.commit('docs/kept.txt', 'of a person');
    const head = await repository.head();
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'one.html': 'as-delivered', 'docs/': 'as-delivered' });
    expect(reportOn(played, 'docs/')).toMatchObject({
      ready: true,
      url: `${repository.pages.url}docs/`,
      lines: { TEST: expect.stringContaining('files identical: 3 of 3') },
      unknown: [],
    });
    expect(await repository.head()).toBe(head);
    expect(requestsOf(played, /^(?!GET|POST \S+\/graphql)/)).toEqual([]);
  });
});
