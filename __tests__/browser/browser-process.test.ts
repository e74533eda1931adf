import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { BrowserLaunchError, launchBrowser } from '../../src/browser/browser-process.ts';
import { chromiumPath } from '../support/chromium.ts';
import { temporaryFolder } from '../support/files.ts';

const launch = async (tempFolder: string, executablePath?: string) =>
  launchBrowser(
    {
      executablePath: executablePath ?? (await chromiumPath()),
      sandbox: false,
      env: { PATH: process.env.PATH },
      tempFolder,
    },
    new AbortController().signal,
  );

describe('launchBrowser', () => {
  test('starts a browser over a pipe, and reports when it ends by itself', async () => {
    const folder = await temporaryFolder();
    const running = await launch(folder);
    expect(running.version).toMatch(/^HeadlessChrome\//);
    const ended = new Promise((resolve) => running.ended.addEventListener('abort', resolve));
    process.kill(running.pid, 'SIGKILL');
    await ended;
    await running.kill();
    expect(await readdir(folder)).toEqual([]);
  });

  test('starts the browser again if it ends during its start', async () => {
    const folder = await temporaryFolder();
    const [program, trace] = [join(folder, 'browser.sh'), join(folder, 'trace')];
    const script = `#!/bin/sh\n[ -e ${trace} ] && exec ${await chromiumPath()} "$@"\ntouch ${trace}\nkill -SEGV $$\n`;
    await writeFile(program, script, { mode: 0o755 });
    const { kill } = await launch(folder, program);
    await kill();
    expect((await readdir(folder)).sort()).toEqual(['browser.sh', 'trace']);
  });

  test('leaves no folder behind if the program does not exist', async () => {
    const folder = await temporaryFolder();
    await expect(launch(folder, '/nowhere/chrome')).rejects.toBeInstanceOf(BrowserLaunchError);
    expect(await readdir(folder)).toEqual([]);
  });
});
