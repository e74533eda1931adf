import { describe, expect, test } from '@jest/globals';
import { furnish } from '../src/context.ts';
import { prepareOne } from './channels/one.ts';
import { requestWith } from './delivery/builders.ts';
import { localFile } from './support/files.ts';
import { FakeHttp, fakePorts } from './support/ports.ts';

const TOKEN = 'ghs_0123456789abcdef';
const BOTH = { repository: true, site: true };
const NOTHING = { repository: false, site: false };

describe('the delivery context', () => {
  test('has every channel under its key', async () => {
    const { channels } = await furnish(requestWith(), fakePorts()).authorize(NOTHING);
    expect(Object.entries(channels).map(([key, channel]) => [key, channel.key])).toEqual([
      ['K1', 'K1'],
      ['K2', 'K2'],
      ['K3', 'K3'],
      ['K4', 'K4'],
    ]);
  });

  test.each([
    ['a token', { token: '' }],
    ['a repository', { token: TOKEN, repository: '' }],
  ])('has no API client without %s, and sends no request', async (_, inputs) => {
    const { channels, circumstances } = await furnish(requestWith(inputs), fakePorts()).authorize(BOTH);
    expect(circumstances).toMatchObject({ hasToken: false });
    const file = await localFile('x');
    for (const key of ['K1', 'K2'] as const) {
      await expect(prepareOne(channels[key], file)).rejects.toMatchObject({ code: 'NO_TOKEN' });
    }
  });

  test('uses the given API and repository', async () => {
    const host = new FakeHttp(({ url }) =>
      url.endsWith('/pages') ? { status: 404 } : { body: { private: true } },
    );
    const instance = { 'api-url': 'https://git.dev/api/v3', 'auth-url': 'https://git.dev' };
    const inputs = { token: TOKEN, repository: 'octo/site', ...instance };
    const { circumstances } = await furnish(requestWith(inputs), fakePorts(host.http)).authorize(BOTH);
    expect(circumstances).toEqual({ hasToken: true, privateRepository: true, site: null });
    expect(host.seen.map(({ url }) => url)).toEqual([
      'https://git.dev/api/v3/repos/octo/site',
      'https://git.dev/api/v3/repos/octo/site/pages',
    ]);
  });

  test('passes the inputs to every channel', async () => {
    const inputs = {
      token: TOKEN,
      path: 'a/b.html',
      tag: 'files-x',
      bin: 'my-own-bin',
      url: 'https://a.dev/x',
    };
    const { channels } = await furnish(requestWith(inputs), fakePorts()).authorize(NOTHING);
    const file = await localFile('x');
    const plans = Object.values(channels).map(
      async (channel) => (await prepareOne(channel, file, 'b.html')).plan.destination,
    );
    await expect(Promise.all(plans)).resolves.toEqual([
      'branch main, path a/b.html',
      'release files-x, asset b.html',
      'bin my-own-bin, name b.html',
      'its address on a.dev',
    ]);
  });

  test('uses the given file-bin host', async () => {
    const host = new FakeHttp(({ method }) => ({ status: method === 'POST' ? 201 : 200, body: {} }));
    const inputs = { 'bin-host-url': 'https://bins.dev', bin: 'my-own-bin' };
    const { channels } = await furnish(requestWith(inputs), fakePorts(host.http)).authorize(NOTHING);
    const intent = await prepareOne(channels.K3, await localFile('x'));
    await intent.place();
    expect(host.seen.find(({ method }) => method === 'POST')?.url).toBe(
      'https://bins.dev/my-own-bin/page.html',
    );
  });

  test.each([
    ['a marker, which the page before could hold too,', 'It works', 1],
    ['all bytes', '', 0],
  ])('lets K1 read the previous page only where %s decides', async (_, marker, looks) => {
    const before = 'https://octo.github.io/site/page.html';
    const host = new FakeHttp(({ method, url }) => {
      if (url.startsWith(before)) return { body: 'old' };
      if (method === 'PUT') return { status: 200, body: { commit: { sha: 'c0ffee' } } };
      if (url.includes('/commits')) {
        return { body: [{ sha: 'last', commit: { message: 'ADD\n\nDelivered-by: screen-delivery' } }] };
      }
      return { body: { type: 'file', sha: '0ld' } };
    });
    const { channels } = await furnish(requestWith({ token: TOKEN, marker }), fakePorts(host.http)).authorize(
      NOTHING,
    );
    const intent = await prepareOne(channels.K1, await localFile('It works'));
    await intent.place();
    expect(host.seen.filter(({ url }) => url.startsWith(before))).toHaveLength(looks);
  });
});
