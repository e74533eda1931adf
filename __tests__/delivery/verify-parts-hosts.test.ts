import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { PlacedPart } from '../../src/channels/channel.ts';
import { verifyParts } from '../../src/delivery/verify-parts.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';

const HOST = 'octo.github.io';
const BYTES = 'one';

function partsWith(count: number): readonly PlacedPart[] {
  const sha256 = createHash('sha256').update(BYTES).digest('hex');
  return Array.from({ length: count }, (_, nth) => {
    const path = `p${nth}.js`;
    return { path, url: new URL(`https://${HOST}/site/${path}`), size: BYTES.length, sha256 };
  });
}

function verify(
  parts: readonly PlacedPart[],
  answer: (request: Seen, pass: (ms: number) => void) => Scripted,
) {
  const host: FakeHttp = new FakeHttp((request) =>
    answer(request, (ms) => {
      ports.clock.time += ms;
    }),
  );
  const ports = fakePorts(host.http);
  const check = { gone: false, publicOnly: false, host: HOST };
  const proven = verifyParts(parts, check, { deadline: NOON + 20_000, interval: 5_000 }, ports);
  return { proven, host, ports };
}

describe('the files of a site and the hosts that answer', () => {
  test('are proven by their bytes', async () => {
    await expect(verify(partsWith(3), () => ({ body: BYTES })).proven).resolves.toBe(3);
  });

  test('are not proven at another host, which a redirect leads to', async () => {
    const { proven } = verify(partsWith(1), ({ url }) =>
      url.includes(HOST)
        ? { status: 302, headers: { location: 'https://example.com/p0.js' } }
        : { body: BYTES },
    );
    await expect(proven).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: expect.stringContaining(`p0.js (leads to example.com, and not to ${HOST})`),
    });
  });

  test('are not proven where the host sends a browser on', async () => {
    const { proven } = verify(partsWith(1), () => ({ body: BYTES, headers: { refresh: '0; url=/sign-in' } }));
    await expect(proven).rejects.toMatchObject({ code: 'NOT_PROVEN' });
  });

  test('are not asked any more long after the deadline', async () => {
    const { proven, host } = verify(partsWith(1_000), (_, pass) => {
      pass(1_000);
      return { status: 503 };
    });
    await expect(proven).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: expect.stringContaining('1000 of 1000 files'),
    });
    expect(host.seen.length).toBeLessThan(100);
  });
});
