import { accessSync, constants, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** In the order in which they are tried. Snaps come last, because they can't open every profile folder. */
const LINUX_NAMES = [
  ...['google-chrome-stable', 'google-chrome', 'chrome', 'chromium', 'chromium-browser'],
  ...['microsoft-edge-stable', 'microsoft-edge', 'chrome-headless-shell'],
];
const LINUX_FOLDERS = ['/usr/bin', '/usr/local/bin', '/opt/google/chrome', '/opt/microsoft/msedge'];
const LINUX_PATHS = ['/opt/microsoft/msedge/msedge', '/usr/local/share/chromium/chrome-linux/chrome'];
const MAC_APPLICATIONS = ['Google Chrome', 'Google Chrome for Testing', 'Chromium', 'Microsoft Edge'];
const WINDOWS_PATHS = [
  ['Google', 'Chrome', 'Application', 'chrome.exe'],
  ['Chromium', 'Application', 'chrome.exe'],
  ['Microsoft', 'Edge', 'Application', 'msedge.exe'],
];

/** Finds Chrome, Chromium or Edge. If `CHROME_PATH` is set, it never uses another browser. @returns the path */
export function findBrowser(
  environment: EnvironmentVariables,
  platform: NodeJS.Platform,
  isExecutable: (path: string) => boolean = isExecutableFile,
): string | null {
  const { CHROME_PATH } = environment;
  const paths = CHROME_PATH ? [CHROME_PATH] : listUsualPaths(environment, platform);
  return paths.find(isExecutable) ?? null;
}

/** The paths that installers use, the most common first. */
export function listUsualPaths(environment: EnvironmentVariables, platform: NodeJS.Platform): string[] {
  const { PATH = '', HOME, ProgramFiles, ProgramW6432, LOCALAPPDATA } = environment;
  if (platform === 'win32') {
    const folders = [ProgramW6432, ProgramFiles, environment['ProgramFiles(x86)'], LOCALAPPDATA];
    return WINDOWS_PATHS.flatMap((parts) =>
      folders.flatMap((folder) => (folder ? [win32.join(folder, ...parts)] : [])),
    );
  }
  if (platform === 'darwin') {
    return MAC_APPLICATIONS.flatMap((name) =>
      ['', HOME ?? ''].map((folder) => `${folder}/Applications/${name}.app/Contents/MacOS/${name}`),
    );
  }
  // A relative folder could hold a program from the delivered repository.
  const searched = PATH.split(':').filter(
    (folder) => posix.isAbsolute(folder) && !folder.startsWith('/snap/'),
  );
  const folders = [...LINUX_FOLDERS, ...searched];
  const named = LINUX_NAMES.flatMap((name) => folders.map((folder) => posix.join(folder, name)));
  return [...named, ...LINUX_PATHS, '/snap/bin/chromium'];
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
