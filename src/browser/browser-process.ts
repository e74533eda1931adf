import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
// Puppeteer imports this package lazily; this line keeps it in the bundle.
import 'debug';
import { type ConnectionTransport, connect } from '#puppeteer';
import { untilAborted } from '../async.ts';
import { toMessage } from '../errors.ts';
import { HAS_GROUPS, killGroup, whenStarted } from '../system.ts';
import type { EnvironmentVariables } from './find-browser.ts';
import { DESKTOP } from './pixels.ts';

/** Characters kept of the end of the browser's error output. */
const KEPT_OUTPUT = 8_000;

/** Milliseconds to read the rest of a killed process's error output. */
const END_TIME = 2_000;

export interface LaunchOptions {
  readonly executablePath: string;
  readonly sandbox: boolean;
  /** The browser gets only system variables, such as `PATH`. */
  readonly env: EnvironmentVariables;
  readonly tempFolder: string;
}

export type BrowserProcess = Awaited<ReturnType<typeof launchOnce>>;

/** The browser did not start. The message is the end of its output, or the reason. */
export class BrowserLaunchError extends Error {
  override readonly name = 'BrowserLaunchError';
}

/**
 * Starts a browser in its own process group, and retries once, because browsers sometimes crash at their start.
 *
 * @throws {BrowserLaunchError} if it ends or doesn't answer before the signal aborts; leaves nothing behind.
 */
export async function launchBrowser(options: LaunchOptions, signal: AbortSignal): Promise<BrowserProcess> {
  try {
    return await launchOnce(options, signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return launchOnce(options, signal);
  }
}

async function launchOnce(options: LaunchOptions, signal: AbortSignal) {
  const profile = await mkdtemp(join(options.tempFolder, 'screen-delivery-browser-'));
  // The browser's processes may need a moment to end.
  const removeProfile = (): Promise<void> =>
    rm(profile, { recursive: true, force: true, maxRetries: 9 }).catch(() => undefined);
  const child = await spawnBrowser(options, profile).catch(async (cause: unknown) => {
    await removeProfile();
    throw new BrowserLaunchError(toMessage(cause), { cause });
  });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    output = (output + piece).slice(-KEPT_OUTPUT);
  });
  const ended = new AbortController();
  const killAtExit = (): void => killGroup(child);
  process.once('exit', killAtExit);
  child.once('exit', (code, signalName) =>
    ended.abort(new Error(`the browser ended (${signalName ?? code})`)),
  );
  /** Ends all its processes at once; never throws. */
  const kill = async (): Promise<void> => {
    killAtExit();
    process.off('exit', killAtExit);
    await removeProfile();
  };
  try {
    const settings = { defaultViewport: DESKTOP, issuesEnabled: false };
    const starting = connect({ transport: createTransport(child), ...settings }).then(async (browser) => ({
      browser,
      /** Such as `HeadlessChrome/147.0.7727.0`. */
      version: await browser.version(),
    }));
    const started = await untilAborted(AbortSignal.any([signal, ended.signal]), starting);
    return { ...started, pid: child.pid ?? 0, ended: ended.signal, kill };
  } catch (thrown) {
    await kill();
    // Error output may arrive after the process has ended.
    const rest = finished(child.stderr as Readable, { signal: AbortSignal.timeout(END_TIME) });
    await rest.catch(() => undefined);
    throw new BrowserLaunchError(output.trim() || toMessage(thrown), { cause: thrown });
  }
}

async function spawnBrowser(options: LaunchOptions, profile: string): Promise<ChildProcess> {
  const home = join(profile, 'home');
  await mkdir(home);
  const flags = [`--user-data-dir=${join(profile, 'profile')}`, ...(options.sandbox ? [] : ['--no-sandbox'])];
  return whenStarted(
    spawn(options.executablePath, [...BROWSER_FLAGS, ...flags, 'about:blank'], {
      cwd: home,
      env: createEnvironment(options.env, home),
      detached: HAS_GROUPS,
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    }),
  );
}

const KEPT_VARIABLES = [
  ...['PATH', 'FONTCONFIG_PATH', 'SystemRoot', 'SystemDrive', 'windir'],
  ...['ProgramFiles', 'ProgramFiles(x86)', 'ProgramW6432'],
];

const HOME_VARIABLES = ['HOME', 'TMPDIR', 'TEMP', 'TMP', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'];

function createEnvironment(environment: EnvironmentVariables, home: string): NodeJS.ProcessEnv {
  const systemVariables = KEPT_VARIABLES.map((name) => [name, environment[name]]);
  const homeVariables = HOME_VARIABLES.map((name) => [name, home]);
  return { ...Object.fromEntries([...systemVariables, ...homeVariables]), LANG: 'en_US.UTF-8' };
}

/** Each message ends with a zero byte. */
function createTransport({ stdio }: ChildProcess): ConnectionTransport {
  const [toBrowser, fromBrowser] = [stdio[3] as Writable, stdio[4] as Readable];
  let pieces: string[] = [];
  const transport: ConnectionTransport = {
    send: (message) => void toBrowser.write(`${message}\0`),
    close: () => void fromBrowser.destroy(),
  };
  fromBrowser.setEncoding('utf8').on('data', (piece: string) => {
    const [rest = '', ...next] = piece.split('\0');
    pieces.push(rest);
    for (const begun of next) {
      const message = pieces.join('');
      pieces = [begun];
      setImmediate(() => transport.onmessage?.(message));
    }
  });
  fromBrowser.on('close', () => transport.onclose?.());
  // The child's exit event reports a browser that ended.
  for (const pipe of [toBrowser, fromBrowser]) pipe.on('error', () => undefined);
  return transport;
}

const BROWSER_FLAGS = [
  ...['--headless', '--remote-debugging-pipe', '--no-first-run', '--no-default-browser-check'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-default-apps'],
  ...['--disable-sync', '--disable-breakpad', '--disable-field-trial-config'],
  // No network: every request that we don't answer fails, because no host name resolves.
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ...['--block-new-web-contents', '--deny-permission-prompts', '--mute-audio'],
  ...['--disable-extensions', '--disable-prompt-on-repost', '--disable-search-engine-choice-screen'],
  ...['--password-store=basic', '--use-mock-keychain', '--no-service-autorun', '--disable-file-system'],
  // Browsers slow down windows that nobody sees.
  ...['--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows'],
  ...['--disable-renderer-backgrounding', '--disable-hang-monitor'],
  // Pictures must not differ between machines.
  ...['--force-color-profile=srgb', '--hide-scrollbars', '--lang=en-US'],
  '--enable-unsafe-swiftshader',
  // Containers often have a small /dev/shm.
  ...['--disable-dev-shm-usage', '--renderer-process-limit=8', '--disk-cache-size=33554432'],
  '--js-flags=--max-old-space-size=512',
  // No search for devices. No upgrade to https, because it would request a refused http URL twice.
  '--disable-features=Translate,MediaRouter,DialMediaRouteProvider,WebBluetooth,DirectSockets,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
];
