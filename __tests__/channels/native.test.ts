import { describe, expect, test } from '@jest/globals';
import { createNative } from '../../src/channels/native.ts';
import { prepareOne } from './one.ts';

const LINK = new URL('https://files.octo.dev/share?key=s3cret');
const prepare = (url: URL | undefined) => prepareOne(createNative(url), null);

describe('K4', () => {
  test('takes the link as it is, and asks that every hop be a public host', async () => {
    await expect((await prepare(LINK)).place()).resolves.toMatchObject({
      evidence: "the environment's link on files.octo.dev",
      url: LINK,
      written: false,
      bypassCache: false,
      hostMayChangeBytes: true,
      mustBeExternal: true,
      unknown: [],
    });
  });

  test('shows no more than the host before the link is proven', async () => {
    const { plan, watch } = await prepare(LINK);
    expect(plan).toMatchObject({ channel: 'K4', destination: 'its address on files.octo.dev' });
    expect(JSON.stringify(plan)).not.toContain('s3cret');
    expect(watch).toBeUndefined();
  });

  test('foresees no more than the proof', async () => {
    await expect((await prepare(LINK)).preview()).resolves.toBe('the link on files.octo.dev would be proven');
  });

  test('is refused without a link', async () => {
    await expect(prepare(undefined)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: expect.stringContaining('set `url:`'),
    });
  });
});
