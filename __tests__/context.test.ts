import { describe, expect, test } from '@jest/globals';
import { createDeliveryContext } from '../src/context.ts';
import type { RawInputs } from '../src/request/inputs.ts';
import { prepareOne } from './channels/prepare-one.ts';
import { requestWith } from './delivery/builders.ts';
import { localFile } from './support/files.ts';
import { FakeHttp, fakePorts } from './support/ports.ts';

const TOKEN = 'ghs_0123456789abcdef';
const BOTH = { repository: true, site: true };
const SITE = 'octo.github.io is built from';
const NOTHING = { repository: false, site: false };

describe('createDeliveryContext', () => {
  const GRANT = '`token:` to one with the permission `contents: write`, such as `${{ github.token }}`';
  test.each([
    ['a token', { token: '' }, 'NO_TOKEN', 'a token', GRANT],
    ['both', { token: '', repository: '' }, 'NO_TOKEN', 'a token and a repository', `${GRANT}, and \`repo`],
    ['a repository', { token: TOKEN, repository: '' }, 'BAD_INPUT', 'a repository, and none is', '`repo'],
  ])('opens no repository without %s, and sends no request', async (_, inputs, code, needed, hint) => {
    const { channels, repository } = await createDeliveryContext(
      requestWith(inputs),
      fakePorts(),
    ).openRepository(BOTH);
    const refusal = {
      ...{ code, step: 'authorize', message: expect.stringContaining(`K1 and K2 need ${needed}`) },
      hint: expect.stringMatching(/^set .*K3/),
    };
    expect(repository).toMatchObject({ github: { ...refusal, hint: expect.stringContaining(hint) } });
    const file = await localFile('x');
    for (const key of ['K1', 'K2'] as const) {
      await expect(prepareOne(channels[key], file)).rejects.toMatchObject(refusal);
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
    expect(repository).toMatchObject({ privateRepository: true, site: null });
    expect(host.seen.map(({ url }) => url)).toEqual([
      'https://git.dev/api/v3/repos/octo/site',
      'https://git.dev/api/v3/repos/octo/site/pages',
    ]);
  });

  test.each<[Record<string, unknown> | number, Partial<RawInputs>, readonly string[]]>([
    [
      { source: { branch: 'docs', path: '/' }, build_type: 'legacy' },
      { token: TOKEN },
      ['there is a token', 'the repository is public', `the Pages site on ${SITE} branch docs, folder /`],
    ],
    [{ build_type: 'workflow' }, { token: TOKEN }, [`the Pages site on ${SITE} a workflow`]],
    [404, { token: TOKEN }, ['the repository has no Pages site']],
    [403, { token: TOKEN }, ["the repository's Pages settings can't be read"]],
    [404, { token: TOKEN, repository: '' }, ['there is a token, and no repository for it']],
    [404, {}, ['there is no token']],
  ])('tells in the log what is known of the repository: %j', async (pages, inputs, expected) => {
    const host = new FakeHttp(({ url }) => {
      if (!url.endsWith('/pages')) return { body: { private: false } };
      return typeof pages === 'number' ? { status: pages } : { body: pages };
    });
    const ports = fakePorts(host.http);
    await createDeliveryContext(requestWith(inputs), ports).openRepository(BOTH);
    expect(ports.logger.lines.slice(0, 1)).toEqual(['# Authorize']);
    expect(ports.logger.lines).toEqual(expect.arrayContaining([...expected]));
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
      async (channel) => (await prepareOne(channel, file, 'b.html')).plan.destination,
    );
    await expect(Promise.all(plans)).resolves.toEqual([
      'branch main, path a/b.html',
      'release files-x, asset b.html',
      'bin my-own-bin, name b.html',
      'its address on a.dev',
    ]);
  });
});
