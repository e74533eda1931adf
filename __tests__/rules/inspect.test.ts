import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, renameSync, statSync, symlinkSync, unlinkSync } from 'node:fs';
import { mkdir, realpath, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import '../support/one-realm.ts';
import { describe, expect, test } from '@jest/globals';
import { SIZE } from '../../src/protocol/limits.ts';
import {
  createMemoryFile,
  type InspectOptions,
  inspectFile,
  type LocalFile,
} from '../../src/rules/inspect.ts';
import { locate } from '../../src/rules/open-file.ts';
import { UnchangedFile } from '../../src/rules/unchanged-file.ts';
import { killGroup } from '../../src/system.ts';
import { ENCODINGS } from '../support/encodings.ts';
import { listOpenFiles } from '../support/file-handles.ts';
import { localFile, temporaryFolder } from '../support/files.ts';

const CHANGED = { code: 'BAD_FILE', message: 'the file out/page.html changed while it was delivered' };
const run = promisify(execFile);
const hex = (algorithm: string, bytes: string): string => createHash(algorithm).update(bytes).digest('hex');

const ownOf = (...values: string[]) => values.map((value, at) => ({ name: `NAME_${at + 1}`, value }));

const optionsFor = (path: string, given = 'page.html') => ({ path, given, marker: undefined, secrets: [] });

/** Writes a file and returns the options to inspect it. */
async function writeTestFile(content: string | Buffer, name = 'page.html'): Promise<InspectOptions> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return optionsFor(path, `out/${name}`);
}

describe('a file that passes all checks', () => {
  test('is described by its name, its size, its fingerprints and what kind of file it is', async () => {
    expect(await inspectFile(await writeTestFile('hello\n'))).toMatchObject({
      name: 'page.html',
      size: 6,
      sha256: hex('sha256', 'hello\n'),
      // The output of `git hash-object`.
      blobSha: 'ce013625030ba8dba906f756967f9e9ca394464a',
      firstBytes: 'hello\n',
      binary: false,
      markerCount: null,
    });
    expect(await localFile(`${'x'.repeat(300_000)}\0`)).toMatchObject({ binary: true });
    expect(await localFile('\0MARK MARK', 'a.html', 'MARK')).toMatchObject({ binary: true, markerCount: 2 });
  });

  test.each([40, 0])(
    'has an object id of %d digits, or none if it is too large for a repository',
    async (most) => {
      const options = await writeTestFile('');
      await truncate(options.path, SIZE.repository + (most === 0 ? 1 : 0));
      expect((await inspectFile(options)).blobSha).toHaveLength(most);
    },
  );

  test('is read correctly by two readers at once', async () => {
    const file = await localFile('x'.repeat(600_000) + 'y'.repeat(600_000));
    const read = async (): Promise<number> => {
      let letters = 0;
      for await (const piece of file.pieces()) {
        await new Promise((resolve) => setImmediate(resolve));
        letters += piece.toString().split('y').length - 1;
      }
      return letters;
    };
    expect(await Promise.all([read(), read()])).toEqual([600_000, 600_000]);
  });
});

describe('a file that fails a check', () => {
  const getRefusal = (options: InspectOptions): Promise<unknown> =>
    inspectFile(options).catch((thrown: unknown) => thrown);

  test.each([
    ['it does not exist', '../no.html', 'the file page.html does not exist', 'relative to the workspace'],
    [
      'a folder in its path is a file',
      'deeper',
      "the file page.html can't be opened (ENOTDIR)",
      'create it first',
    ],
    ['it is a folder', '..', 'page.html is a folder', 'name one file'],
    ['it is a device', '/dev/null', 'page.html is not a regular file', 'name a regular file'],
    ['it is empty', '.', 'the file page.html is empty', 'never delivered'],
  ])('is refused because %s', async (_, way, message, hint) => {
    const { path } = await writeTestFile('');
    const refusal = await getRefusal(optionsFor(resolve(path, way)));
    expect(refusal).toMatchObject({ code: 'BAD_FILE', message, hint: expect.stringContaining(hint) });
  });

  test('is refused because it is a pipe, without waiting for a writer', async () => {
    const path = join(await temporaryFolder(), 'pipe');
    await run('mkfifo', [path]);
    // Ends the wait of a failing test, so that it does not hang.
    const writer = spawn('sh', ['-c', 'sleep 60; touch "$0.written"; echo x > "$0"', path], {
      detached: true,
    });
    const refusal = await getRefusal(optionsFor(path, 'pipe'));
    killGroup(writer);
    expect(refusal).toMatchObject({ code: 'BAD_FILE', message: 'pipe is not a regular file' });
    expect(existsSync(`${path}.written`)).toBe(false);
  });

  test.each([1, 1_000_000])('is refused because it grew while it was read: %d bytes', async (size) => {
    const options = await writeTestFile('x'.repeat(size));
    // The size is accepted after it was read and before the bytes are read.
    const accept = (): void => appendFileSync(options.path, 'y');
    expect(await getRefusal({ ...options, accept })).toMatchObject(CHANGED);
  });

  test('is refused because it contains any of several secrets, which the refusal does not repeat', async () => {
    const options = { ...(await writeTestFile('a hunter2 b')), secrets: ownOf('other', 'hunter2', 'third') };
    const refusal = await getRefusal(options);
    expect(refusal).toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringContaining('(NAME_2)'),
      hint: expect.stringContaining('revoke'),
    });
    expect(JSON.stringify([String(refusal), refusal])).not.toContain('hunter2');
    expect(listOpenFiles(dirname(options.path))).toEqual([]);
  });
});

describe('a file with a credential in another encoding', () => {
  const token = 'ghs_AbCdEf0123456789AbCdEf0123456789abcd';
  // No four letters or digits in a row, and each kind of sign.
  const password = `a+3/x9&"K<7>'L\\2$é=я😀!w#(Rt)*:5~`;
  test.each(ENCODINGS)('is refused: %s', async (name, encode) => {
    for (const secret of [token, password]) {
      const encoded = Buffer.from(encode(secret), name.startsWith('in UTF-16') ? 'latin1' : 'utf8');
      // At several places of the borders between chunks.
      for (const before of [0, 262_144 - 300, 262_144 - 40, 262_144 - 3]) {
        const content = Buffer.concat([Buffer.alloc(before, ' '), encoded, Buffer.from(' and more')]);
        const inspected = inspectFile({ ...(await writeTestFile(content)), secrets: ownOf(secret) });
        await expect(inspected).rejects.toThrow('contains a credential of this environment (NAME_1)');
      }
    }
  });

  test.each(['first', 'x'.repeat(300_000)])(
    'that was written with the time of the last change set back is refused (%#)',
    async (content) => {
      const { path, ...options } = await writeTestFile(`<p>${content}</p>`);
      await utimes(path, 1_700_000_000, 1_700_000_000);
      const file = await inspectFile({ path, ...options });
      await writeFile(path, `<b>${content}</p>`);
      await utimes(path, 1_700_000_000, 1_700_000_000);
      await expect(file.read().toArray()).rejects.toMatchObject({ code: 'BAD_FILE' });
      // Other times of the same bytes change nothing.
      await writeFile(path, `<p>${content}</p>`);
      await utimes(path, 1_700_000_000, 1_700_000_000);
      expect(await text(file.read())).toBe(`<p>${content}</p>`);
    },
  );
});

describe('a file with allowed roots', () => {
  const OUTSIDE = {
    code: 'BAD_FILE',
    message: expect.stringMatching(/ is outside the workspace \/.*\/workspace$/),
    hint: expect.stringContaining('into the workspace'),
  };
  const LINK = {
    code: 'BAD_FILE',
    message: expect.stringMatching(
      / is a symbolic link (?:or is in a linked folder|that leads out of its folder)$/,
    ),
    hint: expect.stringContaining('link'),
  };

  /** A workspace with a file in a folder, the runner's temp folder, and a folder outside of both. */
  async function createFolders() {
    const root = await realpath(await temporaryFolder());
    const at = (path: string): string => join(root, path);
    for (const name of ['workspace', 'temp', 'outside']) {
      await mkdir(at(`${name}/out`), { recursive: true });
      await writeFile(at(`${name}/out/page.html`), `from ${name}`);
    }
    return { at, workspace: at('workspace'), roots: [at('workspace'), at('temp')] };
  }

  const open = async (path: string, allowedRoots: readonly string[]) => {
    const limits = { allowedRoots, allowsFullPaths: false };
    return inspectFile({ ...optionsFor(path), ...locate(optionsFor(path), dirname(path), limits) });
  };

  /** The text that would be sent, or the refusal. */
  const inspect = async (path: string, allowedRoots: readonly string[]): Promise<unknown> =>
    open(path, allowedRoots)
      .then((file) => text(file.read()))
      .catch((thrown: unknown) => thrown);

  test('is accepted in each root, also with two dots in its name, or if the root is a link', async () => {
    const { at, workspace, roots } = await createFolders();
    expect(await inspect(at('workspace/out/page.html'), roots)).toBe('from workspace');
    expect(await inspect(at('temp/out/page.html'), roots)).toBe('from temp');
    await writeFile(at('workspace/..page.html'), 'dotted');
    expect(await inspect(at('workspace/..page.html'), roots)).toBe('dotted');
    await symlink(workspace, at('alias'));
    expect(await inspect(at('alias/out/page.html'), [at('alias')])).toBe('from workspace');
  });

  test.each([
    '../outside/out/page.html',
    '../workspace-2/page.html',
    '..',
    // The first file in /proc is readable by the process and contains its secrets.
    ...['/proc/self/environ', '/dev/zero', '/etc/passwd'].filter(existsSync),
  ])('is refused outside of them, at %s', async (path) => {
    const { at, workspace } = await createFolders();
    await mkdir(at('workspace-2'));
    await writeFile(at('workspace-2/page.html'), 'a neighbor that begins with the same name');
    expect(await inspect(resolve(workspace, path), [workspace])).toMatchObject(OUTSIDE);
  });

  test.each([
    ['link.html', 'workspace/out/page.html'],
    ['out/link.html', 'workspace/out/page.html'],
    ['out/link.html', 'workspace/out/.hidden/page.html'],
  ])('is followed at %s if the link stays in its folder', async (path, target) => {
    const { at, workspace, roots } = await createFolders();
    await mkdir(at('workspace/out/.hidden'));
    await writeFile(at('workspace/out/.hidden/page.html'), 'from workspace');
    await symlink(at(target), join(workspace, 'chain'));
    await symlink(at('workspace/chain'), at('workspace/out/end.html'));
    await symlink(at(target), join(workspace, path));
    expect(await inspect(join(workspace, path), roots)).toBe('from workspace');
    expect(await inspect(at('workspace/out/end.html'), roots)).toBe('from workspace');
    const options = { ...optionsFor(join(workspace, path)), within: workspace, refusesHidden: true };
    const read = inspectFile(options).then((file) => text(file.read()));
    if (target.includes('.hidden'))
      await expect(read).rejects.toThrow('is a symbolic link to a hidden file or folder');
    else expect(await read).toBe('from workspace');
  });

  test("is refused if it is or links to git's own data or a hidden file", async () => {
    const { at, workspace, roots } = await createFolders();
    await mkdir(at('workspace/.git'));
    await writeFile(at('workspace/.git/config'), 'x');
    await symlink('.git/config', join(workspace, 'link.html'));
    await writeFile(at('workspace/.env'), 'x');
    await symlink('.env', join(workspace, 'env.html'));
    expect(await inspect(at('workspace/.env'), roots)).toBe('x');
    for (const [path, problem] of [
      ['.git/config', "holds git's own data"],
      ['link.html', "holds git's own data"],
      ['env.html', 'is a symbolic link to a hidden file'],
    ] as const) {
      const message = `the file page.html ${problem}`;
      for (const allowed of [roots, []]) {
        expect(await inspect(join(workspace, path), allowed)).toMatchObject({ message });
      }
    }
  });

  test.each([
    ['out/link.html', 'workspace/page.html'],
    ['link.html', 'outside/out/page.html'],
    ['link.html', 'temp/out/page.html'],
    ['linked/page.html', 'workspace/out'],
    ['linked/page.html', 'outside/out'],
  ])('is refused at %s with a symbolic link to %s', async (path, target) => {
    const { at, workspace, roots } = await createFolders();
    await writeFile(at('workspace/page.html'), 'beside the folder');
    await symlink(at(target), join(workspace, path.replace('linked/page.html', 'linked')));
    expect(await inspect(join(workspace, path), roots)).toMatchObject(LINK);
  });

  test.each(['workspace/out', 'workspace/out/page.html'])(
    'is refused if %s became a link or was replaced after its check',
    async (path) => {
      const { at, roots } = await createFolders();
      const file = await open(at('workspace/out/page.html'), roots);
      const target = at(path.replace('workspace', 'outside'));
      await rename(at(path), at('before'));
      await symlink(target, at(path));
      await expect(text(file.read())).rejects.toMatchObject(LINK);
      await rm(at(path));
      await rename(target, at(path));
      await expect(text(file.read())).rejects.toMatchObject({ code: 'BAD_FILE' });
    },
  );

  test('is refused if it is a chain of links without an end', async () => {
    const { at, workspace, roots } = await createFolders();
    await symlink(at('workspace/b'), at('workspace/a'));
    await symlink(at('workspace/a'), at('workspace/b'));
    const message = 'the file page.html is a symbolic link in a circle';
    expect(await inspect(join(workspace, 'a'), roots)).toMatchObject({ message });
    await symlink('nowhere', at('workspace/c'));
    const nothing = 'the file page.html is a symbolic link to nothing';
    expect(await inspect(join(workspace, 'c'), roots)).toMatchObject({ message: nothing });
  });

  test('is refused if its folder becomes a link while it is opened', async () => {
    const { at, workspace } = await createFolders();
    const folder = at('workspace/out');
    const options = {
      ...optionsFor(join(folder, 'page.html')),
      // It is asked once the path is resolved, before the file is opened.
      get within() {
        renameSync(folder, `${folder}.real`);
        symlinkSync(at('outside/out'), folder);
        return workspace;
      },
      // It is asked once the file is open.
      get given() {
        if (existsSync(`${folder}.real`)) {
          unlinkSync(folder);
          renameSync(`${folder}.real`, folder);
        }
        return 'page.html';
      },
    };
    const message = 'the file page.html was replaced while it was opened';
    await expect(inspectFile(options)).rejects.toMatchObject({ message });
  });

  test('may be anywhere if there are none', async () => {
    const { at } = await createFolders();
    await symlink(at('outside/out/page.html'), at('workspace/link.html'));
    expect(await inspect(at('workspace/link.html'), [])).toBe('from outside');
  });
});

describe('a file of a folder', () => {
  test('may be empty if the options allow it', async () => {
    const file = await inspectFile({ ...(await writeTestFile('')), mayBeEmpty: true });
    // The output of `git hash-object` for no bytes.
    expect(file).toMatchObject({
      size: 0,
      blobSha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
      firstBytes: '',
    });
    expect(await text(file.read())).toBe('');
  });

  test.each(['/proc/version'].filter(existsSync))(
    'is refused if it has more or fewer bytes than its size, as %s',
    async (path) => {
      const inspected = inspectFile({ ...optionsFor(path, 'version'), mayBeEmpty: true });
      await expect(inspected).rejects.toThrow('the file version changed while it was delivered');
    },
  );

  test.each([1_000_000, 100])(
    'of %d bytes is closed between two reads, whether they end, stop early or fail',
    async (size) => {
      const options = await writeTestFile('x'.repeat(size));
      const expectClosed = (): void => expect(listOpenFiles(dirname(options.path))).toEqual([]);
      const file = await inspectFile(options);
      expectClosed();
      expect(await text(file.read())).toHaveLength(size);
      expectClosed();
      for await (const _ of file.pieces()) break;
      expectClosed();
      expect(await file.prefixSha256(3)).toBe(hex('sha256', 'xxx'));
      await writeFile(options.path, 'changed');
      await expect(text(file.read())).rejects.toMatchObject({ code: 'BAD_FILE' });
      expectClosed();
    },
  );

  test('has bytes of its own while others are checked, and is as it was for all checks', async () => {
    const seen: string[] = [];
    const inspect = async (content: string, check = async () => {}) => {
      const options = await writeTestFile(content);
      return inspectFile(options, async (file) => {
        await writeFile(options.path, 'other');
        await check();
        seen.push(await text(file.pieces()));
      });
    };
    await inspect('one', async () => {
      await inspect('two', async () => void (await inspect('three')));
    });
    expect(seen).toEqual(['three', 'two', 'one']);
  });
});

describe('a file that changes after its check', () => {
  /** Longer than any stream reads ahead. */
  const LONG = 'x'.repeat(1_000_000);

  const CHANGES: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ['grew', async (path) => appendFileSync(path, 'y')],
    ['shrank', (path) => writeFile(path, 'x')],
    [
      // With the same size; the time is set, because two writes may have the same time on the disk.
      'was overwritten',
      async (path) => {
        await writeFile(path, LONG.replaceAll('x', 'y'));
        await utimes(path, new Date(), new Date(Date.now() + 5_000));
      },
    ],
  ];

  test.each(CHANGES)(
    'is refused before its first byte, or at the end of a read, if it %s',
    async (_how, change) => {
      const options = await writeTestFile(LONG);
      /** Reads it, and counts its chunks. */
      const read = async (file: LocalFile, onFirst = async () => {}): Promise<number> => {
        let chunks = 0;
        await expect(async () => {
          for await (const _chunk of file.read()) {
            chunks += 1;
            if (chunks === 1) await onFirst();
          }
        }).rejects.toMatchObject(CHANGED);
        return chunks;
      };
      expect(await read(await inspectFile(options), () => change(options.path))).toBeGreaterThan(0);
      await writeFile(options.path, LONG);
      const file = await inspectFile(options);
      await change(options.path);
      expect(await read(file)).toBe(0);
    },
  );
});

test.each([
  [1_000_000, 'while', 1],
  [10, 'before', 2],
])('A file of %d bytes that is overwritten %s it is checked again is refused.', async (size, _, rounds) => {
  const options = await writeTestFile('x'.repeat(size));
  const file = await inspectFile(options);
  const check = async (): Promise<void> => {
    for await (const _piece of file.pieces()) {
      await writeFile(options.path, 'y'.repeat(size));
      await utimes(options.path, new Date(), new Date(Date.now() + 5_000));
    }
  };
  for (let round = 1; round < rounds; round += 1) await check();
  await expect(check()).rejects.toMatchObject(CHANGED);
});

test.each([10, 200_000])(
  'A file of %d bytes that are not those that were checked is never sent as a whole.',
  async (size) => {
    const path = join(await temporaryFolder(), 'mapped.bin');
    await writeFile(path, 'x'.repeat(size));
    // A write through a memory mapping changes no time of the file.
    const file = new UnchangedFile(statSync(path, { bigint: true }), { path, given: path });
    file.sha256 = createHash('sha256').update('other bytes').digest('hex');
    let sent = 0;
    const sending = (async () => {
      for await (const chunk of file.read()) sent += chunk.length;
    })();
    await expect(sending).rejects.toMatchObject({ code: 'BAD_FILE' });
    expect(sent).toBeLessThan(size);
  },
);

describe('a file in memory', () => {
  test.each(['', 'some bytes\0'])('has the same fields for %j as a file on disk', async (content) => {
    const options = { ...(await writeTestFile(content)), mayBeEmpty: true };
    const [file, onDisk] = [createMemoryFile('page.html', Buffer.from(content)), await inspectFile(options)];
    expect(JSON.parse(JSON.stringify(file))).toEqual(JSON.parse(JSON.stringify(onDisk)));
    expect([await text(file.read()), await text(file.pieces())]).toEqual([content, content]);
    expect(await file.prefixSha256(3)).toBe(await onDisk.prefixSha256(3));
  });
});
