import { expect, test } from '@jest/globals';
import { createNativeChannel } from '../../../src/channels/link/link.ts';
import { findMeaning } from '../../../src/proof/check.ts';
import { ACTION, say } from '../../../src/words.ts';
import { prepareOne } from '../prepare-one.ts';

const LINK = new URL('https://files.octo.dev/share?key=s3cret');
const BINS = new URL('https://files.octo.dev/');

test('channel K4 uses the link as given, and shows only its host before it is proven', async () => {
  const { plan, perform } = await prepareOne(createNativeChannel(LINK), null);
  expect(plan).toMatchObject({ channel: 'K4', destination: 'its address on files.octo.dev' });
  expect(JSON.stringify(plan)).not.toContain('s3cret');
  await expect(perform()).resolves.toMatchObject({
    first: { url: LINK, host: { mustBePublic: true, warnsBrowsers: false } },
    written: false,
  });
});

test.each([
  [404, 'This bin is no longer available.', true],
  [404, 'The bin does not exist.', true],
  [403, 'The file has been requested too many times.', true],
  [403, 'This bin requires approval before files can be downloaded.', false],
  [404, 'The file does not exist.', undefined],
  [404, '404 page not found', undefined],
])('channel K4 knows what the file-bin means by HTTP %i with %s', async (httpCode, text, isFinal) => {
  const task = await prepareOne(createNativeChannel(LINK, BINS), null);
  const { first, notes } = await task.perform();
  expect([first.host.warnsBrowsers, notes]).toEqual([
    true,
    expect.arrayContaining([expect.stringContaining('warning page')]),
  ]);
  const meaning = findMeaning(first.host.refusals, httpCode, text);
  expect(meaning?.isFinal).toBe(isFinal);
  // A link has no bin to go on with.
  expect(say(meaning?.hint ?? '', ACTION)).not.toContain('`bin:');
});
