import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { commitChanges, createBlob } from '../../../src/github/api/git-data.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { changeWith } from '../changes.ts';
import { FakeGitHub } from '../fake-github.ts';

async function creatingBlob(bytes: string | Buffer, ...answers: Scripted[]) {
  const file = await localFile(bytes);
  const host = new FakeHttp((_, nth) => answers[Math.min(nth, answers.length) - 1]);
  const ports = fakePorts(host.http);
  const github = new FakeGitHub();
  return { file, host, ports, github, blob: createBlob(github, file, ports) };
}

const CREATED: Scripted = { status: 201, body: { sha: 'a'.repeat(40) } };

// Pieces of the file end between the bytes of one character of base64.
test.each([3, 11, 200_000])(
  'createBlob streams %d bytes as base64 with their length, paced among the writes',
  async (size) => {
    const bytes = randomBytes(size);
    const { host, github, blob } = await creatingBlob(bytes, CREATED);
    await blob;
    expect(github.paced).toBe(1);
    const [seen] = host.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      url: 'https://api.github.com/repos/octo/site/git/blobs',
      headers: { authorization: 'Bearer ghs_0123456789abcdef', 'content-length': String(seen?.body.length) },
    });
    const content = bytes.toString('base64');
    expect(JSON.parse(seen?.body ?? '')).toEqual({ encoding: 'base64', content });
  },
);

test('createBlob sends a new body after a retryable failure', async () => {
  const { host, blob } = await creatingBlob('hello, blob', { status: 502, body: '<html>' }, CREATED);
  await blob;
  expect(host.seen[1]?.body).toBe(host.seen[0]?.body);
});

test('commitChanges creates nothing if the branch has moved since the plan', async () => {
  const github = new FakeGitHub();
  const target = { branch: 'main', planned: 'base' };
  await expect(commitChanges(github, [changeWith()], target, async () => 'theirs')).rejects.toMatchObject({
    code: 'CONFLICT',
    retryable: true,
    message: 'the branch main changed during the delivery',
  });
  expect(github.calls).toEqual([]);
});
