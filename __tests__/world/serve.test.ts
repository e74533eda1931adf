import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/files.ts';

const run = promisify(execFile);

/** The output of `npm run world`, and how to end it. */
async function serve(): Promise<{ readonly block: string; stop(): Promise<unknown> }> {
  const child = spawn('npm', ['run', '--silent', 'world'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line === '# Press Ctrl-C here to stop the local GitHub.') break;
  }
  const stop = (): Promise<unknown> => {
    // Its output ends with the last process that writes to it: the server itself.
    const ended = once(child.stdout.resume(), 'close');
    child.kill('SIGTERM');
    return ended;
  };
  return { block: lines.join('\n'), stop };
}

test('the output of `npm run world` can be pasted whole, npm works in that shell, and stopping the command stops the server', async () => {
  const { block, stop } = await serve();
  try {
    // `-e`: any line that fails ends it.
    const env = { ...process.env, TMPDIR: await temporaryFolder() };
    const { stdout, stderr } = await run(
      'bash',
      ['-ec', `${block}\necho "npm requests $NO_PROXY directly"`],
      {
        env,
      },
    );
    expect(stdout).toContain('https://octo.github.io/pages-demo/first.html');
    expect(stdout).toContain('<h1>Pages demo</h1>');
    expect(stdout).toContain('<h1>Hello</h1>');
    expect(`${stdout}${stderr}`).toContain('shown');
    expect(block).toContain('Type exit there');
    expect(stdout).toContain('npm requests registry.npmjs.org directly');
    expect(stderr).toContain("Cloning into '");
  } finally {
    await stop();
  }
});
