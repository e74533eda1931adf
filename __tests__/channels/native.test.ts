import { describe, expect, test } from '@jest/globals';
import { findMeaning } from '../../src/channels/channel.ts';
import { createNativeChannel } from '../../src/channels/native.ts';
import { ACTION, say } from '../../src/words.ts';
import { prepareOne } from './prepare-one.ts';

const LINK = new URL('https://files.octo.dev/share?key=s3cret');
const BINS = new URL('https://files.octo.dev/');
const prepare = (url: URL | undefined) => prepareOne(createNativeChannel(url), null);

describe('channel K4', () => {
  test('uses the link as given, and requires every redirect to lead to a public host', async () => {
    await expect((await prepare(LINK)).perform()).resolves.toMatchObject({
      evidence: "the environment's link on files.octo.dev",
      url: LINK,
      written: false,
      isLink: true,
      isInBin: false,
      unknown: ['whether the link still opens later, and from every network'],
    });
  });

  test('shows only the host of the link before the link is proven', async () => {
    const { plan } = await prepare(LINK);
    expect(plan).toMatchObject({ channel: 'K4', destination: 'its address on files.octo.dev' });
    expect(JSON.stringify(plan)).not.toContain('s3cret');
  });

  test('tells of the warning page that the file-bin shows before the content', async () => {
    const task = await prepareOne(createNativeChannel(LINK, BINS), null);
    const notes = expect.arrayContaining(['a browser may be shown a warning page first']);
    await expect(task.perform()).resolves.toMatchObject({ isInBin: true, notes });
  });

  test.each([
    [404, 'This bin is no longer available.', true],
    [404, 'The bin does not exist.', true],
    [403, 'The file has been requested too many times.', true],
    [403, 'This bin requires approval before files can be downloaded.', false],
    [404, 'The file does not exist.', undefined],
    [404, '404 page not found', undefined],
  ])('knows what the file-bin means by HTTP %i with %s', async (httpCode, text, isFinal) => {
    const task = await prepareOne(createNativeChannel(LINK, BINS), null);
    const { refusals = [] } = await task.perform();
    const meaning = findMeaning(refusals, httpCode, text);
    expect(meaning?.isFinal).toBe(isFinal);
    // A link has no bin to go on with.
    expect(say(meaning?.hint ?? '', ACTION)).not.toContain('`bin:');
    expect((await (await prepare(LINK)).perform()).refusals).toBeUndefined();
  });

  test('is refused without a link', async () => {
    const hint = expect.stringContaining('set `url:`');
    await expect(prepare(undefined)).rejects.toMatchObject({ code: 'BAD_INPUT', hint });
  });
});
