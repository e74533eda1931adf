import { describe, expect, test } from '@jest/globals';
import { type Played, refused, setUpPlay } from './play.ts';
import { createPage, waitForAll } from './scenario.ts';

const play = setUpPlay();
const LARGE = 1_100_000;

/** Two deliveries of a page to one path; both check the path before either writes. */
async function deliverBoth(texts: readonly [string, string]) {
  const repository = await play.repository();
  play.meanwhile({ method: 'GET', url: /contents\/page\.html/, times: 2 }, waitForAll(2));
  // The site answers only after both wrote, or one ended without a commit.
  const commits = new Set(texts).size + 1;
  let ended = false;
  repository.pages.beforeAnswer = async () => {
    while (!ended && (await repository.log()).length < commits)
      await new Promise((resolve) => setImmediate(resolve));
  };
  // Neither may request a build.
  const token = play.world.token({ pages: 'read' });
  const deliver = async (text: string): Promise<Played> => {
    const files = { 'page.html': text };
    const played = await play.deliver({ repository, token, files, inputs: { channel: 'K1' } });
    ended = true;
    return played;
  };
  const delivered = await Promise.all([deliver(texts[0]), deliver(texts[1])]);
  const words = (await repository.log()).map(({ message }) => message.split(' ')[0]);
  return { delivered, words, stored: String(await repository.read('page.html')) };
}

describe.each([
  ['A', (text: string) => createPage(text)],
  ['B', (text: string) => createPage(text).padEnd(LARGE)],
])('two deliveries to one path of the branch at once, method %s', (_, make) => {
  test('with different bytes: the last one wins, and the other reports that', async () => {
    const texts = [make('one'), make('other')] as const;
    const { delivered, words, stored } = await deliverBoth(texts);
    const at = texts.indexOf(stored);
    expect(at).not.toBe(-1);
    expect(words).toEqual(['UPDATE', 'ADD', 'Initial']);
    expect(delivered[at]?.report.notReady).toBeNull();
    const loser = delivered[1 - at] as Played;
    const says = /^(wait|verify).*: .*(answers HTTP 200 with other content|removed or replaced)/;
    await refused(Promise.resolve(loser), says);
  });

  test('with the same bytes: one commit serves both', async () => {
    const { delivered, words } = await deliverBoth([make('one'), make('one')]);
    expect(words).toEqual(['ADD', 'Initial']);
    expect(delivered.map(({ report }) => report.notReady)).toEqual([null, null]);
    expect(delivered[0]?.report.commitSha).toBe(delivered[1]?.report.commitSha);
  });
});
