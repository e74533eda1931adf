import { describe, expect, test } from '@jest/globals';
import { findBrowser, listUsualPaths } from '../../src/browser/find-browser.ts';

const WINDOWS = { ProgramFiles: 'C:\\Program Files', 'ProgramFiles(x86)': 'C:\\Program Files (x86)' };

describe('findBrowser', () => {
  test.each<[NodeJS.Platform, string]>([
    ['linux', '/usr/bin/google-chrome'],
    ['linux', '/usr/bin/chromium'],
    ['linux', '/opt/microsoft/msedge/msedge'],
    ['linux', '/snap/bin/chromium'],
    ['linux', '/nix/bin/chromium'],
    ['darwin', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
    ['darwin', '/Users/me/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'],
    ['win32', 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
    ['win32', 'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe'],
  ])('finds on %s the one at %s', (platform, path) => {
    const environment = { ...WINDOWS, HOME: '/Users/me', PATH: '/nix/bin:relative/bin' };
    const found = findBrowser(environment, platform, (candidate) => candidate === path);
    expect(found).toEqual({ executablePath: path, reason: '' });
  });

  test('prefers Chrome to Chromium and Edge, and a snap to nothing', () => {
    const paths = listUsualPaths({}, 'linux');
    const names = ['google-chrome-stable', 'chromium', 'microsoft-edge'].map((name) => `/usr/bin/${name}`);
    const order = [...names, '/snap/bin/chromium'].map((path) => paths.indexOf(path));
    expect(order).toEqual([...order].sort((one, other) => one - other));
    expect(order).not.toContain(-1);
  });

  test('never looks in a relative folder of PATH, which may be a stranger’s', () => {
    const paths = listUsualPaths({ PATH: 'bin:./tools::/abs' }, 'linux');
    expect(paths.filter((path) => !path.startsWith('/'))).toEqual([]);
  });

  test('uses CHROME_PATH, and no other browser where it is wrong', () => {
    const environment = { CHROME_PATH: '/opt/mine' };
    expect(findBrowser(environment, 'linux', () => true).executablePath).toBe('/opt/mine');
    expect(findBrowser(environment, 'linux', (path) => path !== '/opt/mine')).toEqual({
      executablePath: null,
      reason: '`CHROME_PATH` names no file that can be run',
    });
  });

  test('says that there is none', () => {
    expect(findBrowser({}, 'linux', () => false).reason).toBe(
      'no Chrome, Chromium or Edge was found on this machine',
    );
  });
});
