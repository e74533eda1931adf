import { describe, expect, test } from '@jest/globals';
import type { Channel } from '../src/channels/channel.ts';
import { createDeliveryContext } from '../src/context.ts';
import { prepareOne } from './channels/prepare-one.ts';
import { requestWith } from './delivery/builders.ts';
import { localFile } from './support/files.ts';
import { FakeHttp, fakePorts } from './support/ports.ts';

const TOKEN = 'ghs_0123456789abcdef';
const BOTH = { repository: true, site: true };
const NOTHING = { repository: false, site: false };

describe('createDeliveryContext', () => {
  test.each([
    ['a token', { token: '' }, 'NO_TOKEN'],
    ['a repository', { token: TOKEN, repository: '' }, 'BAD_INPUT'],
  ])('opens no repository without %s, and sends no request', async (_, inputs, code) => {
    const { channels, repository } = await createDeliveryContext(
      requestWith(inputs),
      fakePorts(),
    ).openRepository(BOTH);
    expect(repository).toMatchObject({ hasToken: false });
    const file = await localFile('x');
    for (const key of ['K1', 'K2'] as const) {
      await expect(prepareOne(channels[key].publish, file)).rejects.toMatchObject({ code });
    }
  });

  test('asks the API of `api-url` about the repository of `repository`', async () => {
    const host = new FakeHttp(({ url }) =>
      url.endsWith('/pages') ? { status: 404 } : { body: { private: true } },
    );
    const instance = { 'api-url': 'https://git.dev/api/v3', 'auth-url': 'https://git.dev' };
    const inputs = { token: TOKEN, repository: 'octo/site', ...instance };
    const { repository } = await createDeliveryContext(
      requestWith(inputs),
      fakePorts(host.http),
    ).openRepository(BOTH);
    expect(repository).toEqual({ hasToken: true, privateRepository: true, site: null });
    expect(host.seen.map(({ url }) => url)).toEqual([
      'https://git.dev/api/v3/repos/octo/site',
      'https://git.dev/api/v3/repos/octo/site/pages',
    ]);
  });

  test('gives every channel its inputs', async () => {
    const inputs = {
      token: TOKEN,
      channel: 'K1+K2+K3+K4',
      path: 'a/b.html',
      tag: 'files-x',
      bin: 'my-own-bin',
      url: 'https://a.dev/x',
    };
    const { channels } = await createDeliveryContext(requestWith(inputs), fakePorts()).openRepository(
      NOTHING,
    );
    const file = await localFile('x');
    const plans = Object.values(channels).map(
      async (channel) => (await prepareOne((channel as Channel).publish, file, 'b.html')).plan.destination,
    );
    await expect(Promise.all(plans)).resolves.toEqual([
      'branch main, path a/b.html',
      'release files-x, asset b.html',
      'bin my-own-bin, name b.html',
      'its address on a.dev',
    ]);
  });

  test('posts to the host of `bin-host-url`', async () => {
    const host = new FakeHttp(({ method }) => ({
      status: method === 'POST' ? 201 : 200,
      body: { bin: { id: 'my-own-bin' } },
    }));
    const inputs = { 'bin-host-url': 'https://bins.dev', bin: 'my-own-bin' };
    const { channels } = await createDeliveryContext(
      requestWith(inputs),
      fakePorts(host.http),
    ).openRepository(NOTHING);
    const task = await prepareOne(channels.K3.publish, await localFile('x'));
    await task.perform();
    expect(host.seen.find(({ method }) => method === 'POST')?.url).toBe(
      'https://bins.dev/my-own-bin/page.html',
    );
  });
});
