import { expect, test } from '@jest/globals';
import { findBrowser, listUsualPaths } from '../../src/browser/find-browser.ts';

const ENVIRONMENT = {
  ProgramFiles: 'C:\\Program Files',
  'ProgramFiles(x86)': 'C:\\Program Files (x86)',
  HOME: '/Users/me',
  PATH: '/nix/bin:relative/bin',
};

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
])('A browser is found on %s at %s.', (platform, path) => {
  expect(findBrowser(ENVIRONMENT, platform, (candidate) => candidate === path)).toBe(path);
});

test('Chrome is preferred to Chromium and Edge, and a snap to nothing.', () => {
  const paths = listUsualPaths({}, 'linux');
  const names = ['google-chrome-stable', 'chromium', 'microsoft-edge'].map((name) => `/usr/bin/${name}`);
  const order = [...names, '/snap/bin/chromium'].map((path) => paths.indexOf(path));
  expect(order).toEqual([...order].sort((one, other) => one - other));
});

test('A relative folder of PATH, which may be a stranger’s, is not searched.', () => {
  const paths = listUsualPaths({ PATH: 'bin:./tools::/abs' }, 'linux');
  expect(paths.filter((path) => !path.startsWith('/'))).toEqual([]);
});

test('CHROME_PATH is used; if it is wrong, no other browser replaces it.', () => {
  const environment = { CHROME_PATH: '/opt/mine' };
  expect(findBrowser(environment, 'linux', () => true)).toBe('/opt/mine');
  expect(findBrowser(environment, 'linux', (path) => path !== '/opt/mine')).toBeNull();
});
