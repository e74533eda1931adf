import { describe, expect, test } from '@jest/globals';
import { createDeliveryContext } from '../src/context.ts';
import type { RawInputs } from '../src/request/inputs.ts';
import { prepareOne } from './channels/prepare-one.ts';
import { requestWith } from './delivery/builders.ts';
import { localFile } from './support/files.ts';
import { FakeHttp, fakePorts } from './support/ports.ts';

const TOKEN = 'ghs_0123456789abcdef';
const BOTH = { repository: true, pagesSettings: true };
const SITE = 'octo.github.io is built from';

describe('createDeliveryContext', () => {
  const GRANT =
    '`token:` to a token with the permissions `contents: write, pages: write`, such as `${{ github.token }}` (a secret that does not exist is empty)';
  test.each([
    ['a token', { token: '' }, 'NO_TOKEN', 'a token', GRANT],
    ['both', { token: '', repository: '' }, 'NO_TOKEN', 'a token and a repository', `${GRANT}, and \`repo`],
    [
      'a repository',
      { token: TOKEN, repository: '' },
      'BAD_INPUT',
      'a repository, but the repository is',
      '`repo',
    ],
  ])('opens no repository without %s, and sends no request', async (_, inputs, code, needed, hint) => {
    const { channels, access } = await createDeliveryContext(requestWith(inputs), fakePorts()).openRepository(
      BOTH,
    );
    const refusal = {
      ...{
        code,
        step: 'authorize',
        message: expect.stringContaining(`GitHub Pages and releases need ${needed}`),
      },
      hint: expect.stringMatching(/^set .*K3/),
    };
    expect(access).toMatchObject({ github: { ...refusal, hint: expect.stringContaining(hint) } });
    const file = await localFile('x');
    for (const key of ['K1', 'K2'] as const) {
      await expect(prepareOne(channels[key], file)).rejects.toMatchObject(refusal);
    }
  });

  test.each<[Record<string, unknown> | number, Partial<RawInputs>, readonly string[]]>([
    [
      { source: { branch: 'docs', path: '/' }, build_type: 'legacy' },
      { token: TOKEN },
      ['token: found', 'the repository is public', `the Pages site on ${SITE} branch docs, folder /`],
    ],
    [{ build_type: 'workflow' }, { token: TOKEN }, [`the Pages site on ${SITE} a workflow`]],
    [404, { token: TOKEN }, ['the repository has no Pages site']],
    [403, { token: TOKEN }, ["the repository's Pages settings can't be read"]],
    [404, { token: TOKEN, repository: '' }, ['token: found, but no repository is known']],
    [404, {}, ['token: none']],
  ])('logs what is known of the repository: %j', async (pages, inputs, expected) => {
    const host = new FakeHttp(({ url }) => {
      if (!url.endsWith('/pages')) return { body: { private: false } };
      return typeof pages === 'number' ? { status: pages } : { body: pages };
    });
    const ports = fakePorts(host.http);
    await createDeliveryContext(requestWith(inputs), ports).openRepository(BOTH);
    expect(ports.logger.lines.slice(0, 1)).toEqual(['# Authorize']);
    expect(ports.logger.lines).toEqual(expect.arrayContaining([...expected]));
  });
});
