import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, constants, existsSync, openSync, renameSync, symlinkSync } from 'node:fs';
import {
  mkdir,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import '../support/one-realm.ts';
import { describe, expect, test } from '@jest/globals';
import { SIZE } from '../../src/protocol/limits.ts';
import { type InspectOptions, inspectFile } from '../../src/rules/inspect.ts';
import { localFile, temporaryFolder } from '../support/files.ts';

const run = promisify(execFile);
const hex = (algorithm: string, bytes: string): string => createHash(algorithm).update(bytes).digest('hex');

/** A file on disk that nothing has looked at yet. */
async function written(content: string | Buffer, name = 'page.html'): Promise<InspectOptions> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return { path, given: `out/${name}`, marker: undefined, secrets: [] };
}

describe('a good file', () => {
  test('is told by its name, its size and its fingerprints', async () => {
    const file = await inspectFile(await written('привет'));
    expect(file).toMatchObject({
      name: 'page.html',
      size: 12,
      sha256: hex('sha256', 'привет'),
      markerCount: null,
    });
    await file.close();
  });

  test('has the identifier that git gives to its bytes', async () => {
    // What `git hash-object` says of "hello\n".
    expect((await localFile('hello\n')).blobSha).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
  });

  test.each([
    ['as large as a repository takes', SIZE.repository, 40],
    ['larger than any repository takes', SIZE.repository + 1, 0],
  ])('has an identifier of git or none where it is %s', async (_what, size, length) => {
    const asked = await written('');
    await truncate(asked.path, size);
    const file = await inspectFile(asked);
    expect(file.blobSha).toHaveLength(length);
    await file.close();
  });

  test('may be left in the middle of a look at it', async () => {
    const file = await localFile('x'.repeat(1_000_000));
    for await (const piece of file.pieces()) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    await file.close();
  });

  test('is read from its first byte each time, also twice at once', async () => {
    const file = await localFile('x'.repeat(200_000));
    const [first, second] = await Promise.all([text(file.read()), text(file.read())]);
    expect([first.length, second.length]).toEqual([200_000, 200_000]);
    expect(await text(file.read())).toBe(first);
  });

  test.each([
    ['a text', 'привет', false],
    ['a NUL byte at its very end', `${'x'.repeat(300_000)}\0`, true],
    ['a NUL byte at its beginning', '\0привет', true],
  ])('is known for a text or not by %s', async (_what, content, binary) => {
    expect((await localFile(content)).binary).toBe(binary);
  });

  test('is looked at in pieces that lie in no more than two memories', async () => {
    const content = 'привет'.repeat(100_000);
    const file = await localFile(content);
    const memory = new Set<ArrayBufferLike>();
    const hash = createHash('sha256');
    for await (const piece of file.pieces()) {
      memory.add(piece.buffer);
      hash.update(piece);
    }
    expect([hash.digest('hex'), memory.size]).toEqual([file.sha256, 2]);
  });

  test('is looked at twice at once without a mix-up', async () => {
    const file = await localFile('x'.repeat(600_000) + 'y'.repeat(600_000));
    const count = async (): Promise<number> => {
      let letters = 0;
      for await (const piece of file.pieces()) {
        await new Promise((resolve) => setImmediate(resolve));
        letters += piece.toString().split('y').length - 1;
      }
      return letters;
    };
    expect(await Promise.all([count(), count()])).toEqual([600_000, 600_000]);
  });

  test('is passed on in chunks that stay as they are', async () => {
    const content = ['w', 'x', 'y', 'z'].map((letter) => letter.repeat(300_000)).join('');
    const file = await localFile(content);
    expect(Buffer.concat(await file.read().toArray()).equals(Buffer.from(content))).toBe(true);
  });

  test('tells the SHA-256 of its beginning', async () => {
    const file = await localFile('привет, мир');
    expect(await file.headSha256(12)).toBe(hex('sha256', 'привет'));
    expect(await file.headSha256(file.size)).toBe(file.sha256);
    expect(await file.headSha256(1)).toBe(
      createHash('sha256')
        .update(Buffer.from([0xd0]))
        .digest('hex'),
    );
  });

  test('stays the one that was checked, although another takes its place on disk', async () => {
    const asked = await written('checked');
    const file = await inspectFile(asked);
    await rm(asked.path);
    await writeFile(asked.path, 'swapped');
    expect(await text(file.read())).toBe('checked');
    await file.close();
  });

  test('can be read any number of times without a warning of Node', async () => {
    // In a process of its own, since Jest keeps Node's warnings to itself.
    const { path } = await written('x');
    const program = `
      import { inspectFile } from ${JSON.stringify(new URL('../../src/rules/inspect.ts', import.meta.url).href)};
      const path = ${JSON.stringify(path)};
      const file = await inspectFile({ path, given: path, marker: undefined, secrets: [] });
      for (let times = 0; times < 20; times += 1) await file.headSha256(1);
      await file.close();`;
    const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', program]);
    expect(stderr).toBe('');
  });

  test("can't be read any more once it is closed", async () => {
    const file = await localFile('x');
    await text(file.read());
    await file.close();
    await expect(file.headSha256(1)).rejects.toThrow();
  });
});

describe('the marker', () => {
  test.each([
    ['once', 'a MARK b', 1],
    ['as often as it stands there', 'MARK MARK MARKMARK', 4],
    ['across the border of two chunks of the disk', `${'x'.repeat(65_534)}MARK`, 1],
  ])('is counted %s', async (_how, content, count) => {
    expect((await localFile(content, 'page.html', 'MARK')).markerCount).toBe(count);
  });

  test('is counted apart from the secrets that are looked for as well', async () => {
    const file = await inspectFile({
      ...(await written('MARK MARK')),
      marker: 'MARK',
      secrets: ['one', 'two'],
    });
    expect(file.markerCount).toBe(2);
    await file.close();
  });

  test('that does not stand in the file is refused, and the hint says what to do', async () => {
    await expect(inspectFile({ ...(await written('mark')), marker: 'MARK' })).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'the marker does not stand in the file out/page.html',
      hint: expect.stringContaining('`marker:`'),
    });
  });
});

describe('a file that is no delivery is refused', () => {
  const refused = (asked: InspectOptions): Promise<unknown> =>
    inspectFile(asked).catch((thrown: unknown) => thrown);

  test('because it is not there', async () => {
    const { path } = await written('x');
    await rm(path);
    expect(await refused({ path, given: 'out/page.html', marker: undefined, secrets: [] })).toMatchObject({
      code: 'BAD_FILE',
      message: 'the file out/page.html does not exist',
      hint: expect.stringContaining('`file:`'),
      cause: expect.objectContaining({ code: 'ENOENT' }),
    });
  });

  test('because a folder on the way to it is a file', async () => {
    const asked = await written('x');
    expect(await refused({ ...asked, path: join(asked.path, 'deeper') })).toMatchObject({
      code: 'BAD_FILE',
      message: "the file out/page.html can't be opened (ENOTDIR)",
    });
  });

  test('because it is a folder', async () => {
    const path = await temporaryFolder();
    expect(await refused({ path, given: 'out', marker: undefined, secrets: [] })).toMatchObject({
      code: 'BAD_FILE',
      message: 'out is a folder',
    });
  });

  test('because it is a device', async () => {
    expect(
      await refused({ path: '/dev/null', given: '/dev/null', marker: undefined, secrets: [] }),
    ).toMatchObject({ code: 'BAD_FILE', message: '/dev/null is not a regular file' });
  });

  test('because it is a pipe, and nobody is waited for to write into it', async () => {
    const path = join(await temporaryFolder(), 'pipe');
    await run('mkfifo', [path]);
    let waited = false;
    // Lets go of whoever waits: a test that fails must not hang.
    const rescue = setTimeout(() => {
      waited = true;
      closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    }, 20_000);
    const refusal = await refused({ path, given: 'pipe', marker: undefined, secrets: [] });
    clearTimeout(rescue);
    expect(refusal).toMatchObject({ code: 'BAD_FILE', message: 'pipe is not a regular file' });
    expect(waited).toBe(false);
  });

  test('because it is empty', async () => {
    expect(await refused(await written(''))).toMatchObject({
      code: 'BAD_FILE',
      message: 'the file out/page.html is empty',
      hint: expect.stringContaining('never delivered'),
    });
  });

  test('because it grew while it was read', async () => {
    const asked = await written('x');
    // The secrets are walked through after the size was taken and before the bytes are read.
    const secrets = Object.assign([] as string[], {
      [Symbol.iterator]: () => {
        appendFileSync(asked.path, 'y');
        return [].values();
      },
    });
    expect(await refused({ ...asked, secrets })).toMatchObject({
      code: 'BAD_FILE',
      message: 'the file out/page.html changed while it was delivered',
    });
  });

  test.each([
    ['the only secret', ['hunter2']],
    ['any of several secrets', ['other', 'hunter2', 'third']],
  ])('because it holds %s, which the refusal does not repeat', async (_which, secrets) => {
    const refusal = await refused({ ...(await written('a hunter2 b MARK')), marker: 'MARK', secrets });
    expect(refusal).toMatchObject({ code: 'BAD_FILE', hint: expect.stringContaining('revoke') });
    expect(JSON.stringify([String(refusal), refusal])).not.toContain('hunter2');
  });

  // Where the system tells which files a process has open.
  const told = existsSync('/proc/self/fd') ? test : test.skip;
  told('and is not left open', async () => {
    const asked = { ...(await written('x')), marker: 'MARK' };
    await refused(asked);
    const numbers = await readdir('/proc/self/fd');
    const opened = numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => ''));
    expect(await Promise.all(opened)).not.toContain(await realpath(asked.path));
  });

  test('for the secret first where its marker is missing as well', async () => {
    const asked = { ...(await written('a hunter2 b')), marker: 'MARK', secrets: ['hunter2'] };
    expect(await refused(asked)).toMatchObject({ code: 'BAD_FILE' });
  });
});

describe('within its allowedRoots a file', () => {
  const OUTSIDE = { code: 'BAD_FILE', message: expect.stringMatching(/ lies outside the workspace$/) };
  const LINK = {
    code: 'BAD_FILE',
    message: expect.stringMatching(/ is a symbolic link or lies behind one$/),
  };

  /** A workspace with a file in a folder, the runner's temp folder, and a file outside of both. */
  async function place() {
    const root = await realpath(await temporaryFolder());
    const [workspace, temp, outside] = ['workspace', 'temp', 'outside'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [workspace, temp, outside]) {
      await mkdir(join(folder, 'out'), { recursive: true });
      await writeFile(join(folder, 'out/page.html'), `from ${relative(root, folder)}`);
    }
    return { root, workspace, temp, outside };
  }

  const asking = (path: string, allowedRoots: readonly string[]): InspectOptions => ({
    path,
    given: 'page.html',
    marker: undefined,
    secrets: [],
    allowedRoots,
  });

  /** What would be sent, or the refusal. */
  async function told(path: string, allowedRoots: readonly string[]): Promise<unknown> {
    try {
      const file = await inspectFile(asking(path, allowedRoots));
      const sent = await text(file.read());
      await file.close();
      return sent;
    } catch (thrown) {
      return thrown;
    }
  }

  test('is taken from the workspace and from the temp folder', async () => {
    const { workspace, temp } = await place();
    const allowedRoots = [workspace, temp];
    expect(await told(join(workspace, 'out/page.html'), allowedRoots)).toBe('from workspace');
    expect(await told(join(temp, 'out/page.html'), allowedRoots)).toBe('from temp');
  });

  test('is taken from the temp folder although the workspace is missing', async () => {
    const { root, temp } = await place();
    expect(await told(join(temp, 'out/page.html'), [join(root, 'nowhere'), temp])).toBe('from temp');
  });

  test('is taken where the wall itself is a symbolic link, as /tmp is on some systems', async () => {
    const { root, workspace } = await place();
    const alias = join(root, 'alias');
    await symlink(workspace, alias);
    expect(await told(join(alias, 'out/page.html'), [alias])).toBe('from workspace');
  });

  test('may have a name that begins with two dots', async () => {
    const { workspace } = await place();
    await writeFile(join(workspace, '..page.html'), 'dotted');
    expect(await told(join(workspace, '..page.html'), [workspace])).toBe('dotted');
  });

  test.each([
    '../outside/out/page.html',
    '../workspace-2/page.html',
    '..',
    'out/../../outside/out/page.html',
  ])('is refused where %s leads out', async (way) => {
    const { root, workspace } = await place();
    await mkdir(join(root, 'workspace-2'));
    await writeFile(join(root, 'workspace-2/page.html'), 'a neighbour that begins with the same name');
    expect(await told(join(workspace, way), [workspace])).toMatchObject({
      ...OUTSIDE,
      hint: expect.stringContaining('temp folder'),
    });
  });

  // Of /proc the first is a file that every process may read, and that holds its secrets.
  test.each(['/proc/self/environ', '/proc/self/cmdline', '/dev/zero', '/etc/passwd'].filter(existsSync))(
    'is refused at %s',
    async (path) => {
      const { workspace, temp } = await place();
      expect(await told(path, [workspace, temp])).toMatchObject(OUTSIDE);
    },
  );

  test.each([
    ['a file inside', 'workspace/out/page.html'],
    ['a file outside', 'outside/out/page.html'],
    ['a file in the other wall', 'temp/out/page.html'],
  ])('is refused where it is a symbolic link to %s', async (_what, target) => {
    const { root, workspace, temp } = await place();
    const link = join(workspace, 'link.html');
    await symlink(join(root, target), link);
    expect(await told(link, [workspace, temp])).toMatchObject({
      ...LINK,
      hint: expect.stringContaining('the file itself'),
    });
  });

  test.each(['workspace/out', 'outside/out'])(
    'is refused where a folder on the way is a symbolic link to %s',
    async (target) => {
      const { root, workspace } = await place();
      await symlink(join(root, target), join(workspace, 'linked'));
      expect(await told(join(workspace, 'linked/page.html'), [workspace])).toMatchObject(LINK);
    },
  );

  test('is refused where a chain of symbolic links never ends', async () => {
    const { workspace } = await place();
    await symlink(join(workspace, 'b'), join(workspace, 'a'));
    await symlink(join(workspace, 'a'), join(workspace, 'b'));
    expect(await told(join(workspace, 'a'), [workspace])).toMatchObject({
      code: 'BAD_FILE',
      message: "the file page.html can't be opened (ELOOP)",
    });
  });

  test('is refused where it is a socket', async () => {
    const { workspace } = await place();
    const path = join(workspace, 's');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    expect(await told(path, [workspace])).toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringMatching(/can't be opened \(E\w+\)$|is not a regular file$/),
    });
    await new Promise((resolve) => server.close(resolve));
  });

  test('that is not there is told so', async () => {
    const { workspace } = await place();
    expect(await told(join(workspace, 'nope.html'), [workspace])).toMatchObject({
      message: 'the file page.html does not exist',
    });
  });

  test('is not swapped for one outside between the check and the opening', async () => {
    const { workspace, outside } = await place();
    const path = join(workspace, 'out/page.html');
    // The allowedRoots are walked through after the way was resolved and before the file is opened.
    const allowedRoots = Object.assign([workspace], {
      [Symbol.iterator]: () => {
        renameSync(path, `${path}.bak`);
        symlinkSync(join(outside, 'out/page.html'), path);
        return [workspace].values();
      },
    });
    expect(await told(path, allowedRoots)).not.toBe('from outside');
  });

  test('may be anywhere where there are no allowedRoots', async () => {
    const { outside, workspace } = await place();
    const link = join(workspace, 'link.html');
    await symlink(join(outside, 'out/page.html'), link);
    expect(await told(link, [])).toBe('from outside');
  });
});

describe('a file that changes after its check', () => {
  const CHANGED = { code: 'BAD_FILE', message: 'the file out/page.html changed while it was delivered' };
  /** More than any stream reads ahead. */
  const LONG = 'x'.repeat(1_000_000);

  const CHANGES: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ['grew', async (path) => appendFileSync(path, 'y')],
    ['shrank', (path) => writeFile(path, 'x')],
    [
      // In the same size; the time is set, since two writes may fall into one tick of the disk's clock.
      'was written anew',
      async (path) => {
        await writeFile(path, LONG.replaceAll('x', 'y'));
        await utimes(path, new Date(), new Date(Date.now() + 5_000));
      },
    ],
  ];

  test.each(CHANGES)('is refused on the next read where it %s', async (_how, change) => {
    const asked = await written(LONG);
    const file = await inspectFile(asked);
    await change(asked.path);
    await expect(text(file.read())).rejects.toMatchObject(CHANGED);
    await expect(file.headSha256(1)).rejects.toMatchObject(CHANGED);
    await file.close();
  });

  test.each(CHANGES)('is refused before a byte of it is given out where it %s', async (_how, change) => {
    const asked = await written(LONG);
    const file = await inspectFile(asked);
    await change(asked.path);
    const given: unknown[] = [];
    const reading = (async () => {
      for await (const chunk of file.read()) given.push(chunk);
    })();
    await expect(reading).rejects.toMatchObject(CHANGED);
    expect(given).toEqual([]);
    await file.close();
  });

  test.each(CHANGES)('is refused at the end of the read in whose middle it %s', async (_how, change) => {
    const asked = await written(LONG);
    const file = await inspectFile(asked);
    const reading = (async () => {
      let first = true;
      for await (const _chunk of file.read()) {
        if (first) await change(asked.path);
        first = false;
      }
    })();
    await expect(reading).rejects.toMatchObject(CHANGED);
    await file.close();
  });

  test('is refused where it grew and its time was set back', async () => {
    const asked = await written(LONG);
    const then = new Date(2026, 0, 2);
    await utimes(asked.path, then, then);
    const file = await inspectFile(asked);
    appendFileSync(asked.path, 'y');
    await utimes(asked.path, then, then);
    await expect(text(file.read())).rejects.toMatchObject(CHANGED);
    await file.close();
  });

  test('passes as long as only its name changes', async () => {
    const asked = await written(LONG);
    const file = await inspectFile(asked);
    await rename(asked.path, `${asked.path}.old`);
    expect(await text(file.read())).toBe(LONG);
    await file.close();
  });
});
