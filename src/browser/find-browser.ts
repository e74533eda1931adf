import { accessSync, constants, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';

/** The variables of the environment, such as `process.env`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Where a browser is, or why none is used. */
interface BrowserSearch {
  /** `null` where none was found. */
  readonly executablePath: string | null;
  /** One sentence without a period at its end; empty where one was found. */
  readonly reason: string;
}

/** Names on Linux, in the order in which they are tried. Snaps come last: they can't open every profile folder. */
const LINUX_NAMES = [
  ...['google-chrome-stable', 'google-chrome', 'chrome', 'chromium', 'chromium-browser'],
  ...['microsoft-edge-stable', 'microsoft-edge', 'chrome-headless-shell'],
];
const LINUX_FOLDERS = ['/usr/bin', '/usr/local/bin', '/opt/google/chrome', '/opt/microsoft/msedge'];
const LINUX_PATHS = ['/opt/microsoft/msedge/msedge', '/usr/local/share/chromium/chrome-linux/chrome'];

const MAC_APPLICATIONS = [
  'Google Chrome',
  'Google Chrome for Testing',
  'Chromium',
  'Microsoft Edge',
  'Google Chrome Canary',
];

const WINDOWS_PATHS = [
  ['Google', 'Chrome', 'Application', 'chrome.exe'],
  ['Chromium', 'Application', 'chrome.exe'],
  ['Microsoft', 'Edge', 'Application', 'msedge.exe'],
];

/**
 * Finds the machine's Chrome, Chromium or Edge: `CHROME_PATH`, then the usual places, GitHub's runners included.
 *
 * @param isExecutable whether a file is there that can be run
 */
export function findBrowser(
  environment: EnvironmentVariables,
  platform: NodeJS.Platform,
  isExecutable: (path: string) => boolean = isExecutableFile,
): BrowserSearch {
  const { CHROME_PATH } = environment;
  if (CHROME_PATH) {
    // A path that was set is never replaced by another browser.
    return isExecutable(CHROME_PATH)
      ? { executablePath: CHROME_PATH, reason: '' }
      : { executablePath: null, reason: '`CHROME_PATH` names no file that can be run' };
  }
  const executablePath = listUsualPaths(environment, platform).find(isExecutable) ?? null;
  const reason = executablePath === null ? 'no Chrome, Chromium or Edge was found on this machine' : '';
  return { executablePath, reason };
}

/** The paths at which the browsers' own installers put them, the most common ones first. */
export function listUsualPaths(environment: EnvironmentVariables, platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return listWindowsPaths(environment);
  if (platform === 'darwin') return listMacPaths(environment);
  const folders = [...new Set([...LINUX_FOLDERS, ...splitSearchPath(environment.PATH)])];
  const named = LINUX_NAMES.flatMap((name) => folders.map((folder) => posix.join(folder, name)));
  return [...named, ...LINUX_PATHS, '/snap/bin/chromium'];
}

/** Only absolute folders: a relative one would be a file of the delivered repository. */
const splitSearchPath = (searchPath = ''): string[] =>
  searchPath.split(':').filter((folder) => posix.isAbsolute(folder) && !folder.startsWith('/snap/'));

function listMacPaths({ HOME }: EnvironmentVariables): string[] {
  const folders = ['/Applications', ...(HOME ? [posix.join(HOME, 'Applications')] : [])];
  return MAC_APPLICATIONS.flatMap((name) =>
    folders.map((folder) => posix.join(folder, `${name}.app`, 'Contents', 'MacOS', name)),
  );
}

function listWindowsPaths(environment: EnvironmentVariables): string[] {
  const { ProgramFiles, LOCALAPPDATA, ProgramW6432 } = environment;
  const folders = [ProgramW6432, ProgramFiles, environment['ProgramFiles(x86)'], LOCALAPPDATA];
  const known = [...new Set(folders.filter((folder) => folder !== undefined && folder !== ''))];
  return WINDOWS_PATHS.flatMap((parts) => known.map((folder) => win32.join(folder as string, ...parts)));
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
