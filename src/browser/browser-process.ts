import { toMessage } from '../errors.ts';
import 'debug';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Browser } from 'puppeteer-core';
import { _connectToCdpBrowser } from 'puppeteer-core/internal/cdp/BrowserConnector.js';
import { PipeTransport } from 'puppeteer-core/internal/node/PipeTransport.js';
import { untilAborted } from '../async.ts';
import { HAS_GROUPS, killGroup } from '../system.ts';
import type { EnvironmentVariables } from './find-browser.ts';

// Puppeteer imports this package when it has something to log; without this line it is not in the same bundle.

/** The end of the browser's error output that is kept, in characters. */
const KEPT_OUTPUT = 8_000;

/** Milliseconds for a killed process to end. */
const END_TIME = 2_000;

export interface LaunchOptions {
  readonly executablePath: string;
  readonly sandbox: boolean;
  readonly environment: EnvironmentVariables;
  /** Where the folder of the profile is created. */
  readonly tempFolder: string;
}

/** A browser that runs, with an empty profile. */
export interface BrowserProcess {
  readonly browser: Browser;
  readonly pid: number;
  /** Such as `HeadlessChrome/147.0.7727.0`. */
  readonly version: string;
  /** Aborts when the process has ended. */
  readonly ended: AbortSignal;
  /** Ends all its processes at once and removes the profile; never throws. */
  kill(): Promise<void>;
}

/** Why a browser could not be started. */
export class BrowserLaunchError extends Error {
  override readonly name = 'BrowserLaunchError';
  /** The end of what it printed. */
  readonly output: string;
  /** Whether it ended by a fault of its own, which may not happen again. */
  readonly isCrash: boolean;

  constructor(
    message: string,
    { output, isCrash, cause }: Pick<BrowserLaunchError, 'output' | 'isCrash' | 'cause'>,
  ) {
    super(message, { cause });
    this.output = output;
    this.isCrash = isCrash;
  }
}

/** Signals that end a faulty process. */
const CRASH_SIGNALS = new Set<string | null>(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGTRAP', 'SIGABRT']);

/**
 * Starts a browser in a process group of its own and connects to it over a pipe; once more where it crashes, as
 * browsers now and then do while they start.
 *
 * @throws {BrowserLaunchError} when it ends or does not answer before the signal aborts; nothing is left behind.
 */
export async function launchBrowser(options: LaunchOptions, signal: AbortSignal): Promise<BrowserProcess> {
  try {
    return await launchOnce(options, signal);
  } catch (thrown) {
    if (signal.aborted || !(thrown instanceof BrowserLaunchError) || !thrown.isCrash) throw thrown;
    return launchOnce(options, signal);
  }
}

function spawnBrowser(
  { executablePath, environment, sandbox }: LaunchOptions,
  profile: string,
  home: string,
) {
  return spawn(executablePath, createBrowserFlags(join(profile, 'profile'), sandbox), {
    cwd: home,
    env: createEnvironment(environment, home),
    // A group of its own, so that all its processes can be ended together.
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
}

async function launchOnce(options: LaunchOptions, signal: AbortSignal): Promise<BrowserProcess> {
  const profile = await mkdtemp(join(options.tempFolder, 'screen-delivery-browser-'));
  const home = join(profile, 'home');
  await mkdir(home);
  const child = spawnBrowser(options, profile, home);
  const output = keepOutput(child);
  const ended = new AbortController();
  const killAtExit = (): void => killGroup(child);
  process.once('exit', killAtExit);
  child.once('error', (error) => ended.abort(error));
  child.once('exit', (code, signalName) => ended.abort(new Error(`it ended (${signalName ?? code})`)));
  const kill = async (): Promise<void> => {
    killAtExit();
    process.off('exit', killAtExit);
    // It was killed, so that is a matter of milliseconds.
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      await once(child, 'exit', { signal: AbortSignal.timeout(END_TIME) }).catch(() => undefined);
    }
    await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  };
  try {
    const starting = connect(child).then(async (browser) => ({ browser, version: await browser.version() }));
    const started = await untilAborted(AbortSignal.any([signal, ended.signal]), starting);
    return { ...started, pid: child.pid ?? 0, ended: ended.signal, kill };
  } catch (thrown) {
    await kill();
    // The rest of the error output may arrive after the end.
    await finished(child.stderr as Readable, { signal: AbortSignal.timeout(END_TIME) }).catch(
      () => undefined,
    );
    const reason = toMessage(thrown);
    const isCrash = CRASH_SIGNALS.has(child.signalCode);
    throw new BrowserLaunchError(reason, { output: output(), isCrash, cause: thrown });
  }
}

/** Variables of the system without which no browser runs. */
const KEPT_VARIABLES = [
  ...['PATH', 'FONTCONFIG_PATH', 'SystemRoot', 'SystemDrive', 'windir'],
  ...['ProgramFiles', 'ProgramFiles(x86)', 'ProgramW6432'],
];

/** Only what a browser needs to run: nothing of the job, and a home of its own. */
function createEnvironment(environment: EnvironmentVariables, home: string): Record<string, string> {
  const kept = KEPT_VARIABLES.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const own = ['HOME', 'TMPDIR', 'TEMP', 'TMP', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'].map((name) => [
    name,
    home,
  ]);
  return { ...Object.fromEntries([...kept, ...own]), LANG: 'en_US.UTF-8' };
}

/** Keeps the end of the error output: it names the reason where a browser can't start. */
function keepOutput(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-KEPT_OUTPUT);
  });
  return () => text;
}

async function connect(child: ChildProcess): Promise<Browser> {
  const [, , , toBrowser, fromBrowser] = child.stdio;
  const transport = new PipeTransport(toBrowser as Writable, fromBrowser as Readable);
  const settings = { defaultViewport: null, networkEnabled: true, issuesEnabled: false };
  // The same class, but its types come from another folder of the package.
  return (await _connectToCdpBrowser(transport, '', settings)) as unknown as Browser;
}

/** Megabytes that the scripts of one page can use. */
const SCRIPT_MEMORY = 512;

/** Parts of the browser that look for devices, or that change what is asked for. */
const DISABLED_FEATURES = [
  ...['Translate', 'MediaRouter', 'DialMediaRouteProvider', 'WebBluetooth', 'DirectSockets'],
  // A plain http address is opened as it is, and a refused one is reported once.
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'],
];

const BROWSER_FLAGS = [
  ...['--headless', '--remote-debugging-pipe', '--no-first-run', '--no-default-browser-check'],
  // No work of the browser's own.
  ...['--disable-background-networking', '--disable-component-update', '--disable-default-apps'],
  ...['--disable-sync', '--disable-breakpad', '--disable-field-trial-config'],
  // No network: all that is not answered over the pipe fails at the name of its host, be it an IP address.
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  // Nothing is asked, opened or kept.
  ...['--block-new-web-contents', '--deny-permission-prompts', '--mute-audio'],
  ...['--disable-extensions', '--disable-prompt-on-repost', '--disable-search-engine-choice-screen'],
  ...['--password-store=basic', '--use-mock-keychain', '--no-service-autorun', '--disable-file-system'],
  // A page must not be slower because nobody sees its window.
  ...['--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows'],
  ...['--disable-renderer-backgrounding', '--disable-hang-monitor'],
  // Pictures of one page are the same on every machine.
  ...['--force-color-profile=srgb', '--hide-scrollbars', '--lang=en-US'],
  // Without a graphics card, WebGL is drawn by the processor.
  '--enable-unsafe-swiftshader',
  // Bounds; containers often have a small /dev/shm.
  ...['--disable-dev-shm-usage', '--renderer-process-limit=8', '--disk-cache-size=33554432'],
  `--js-flags=--max-old-space-size=${SCRIPT_MEMORY}`,
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
];

/**
 * The arguments of the browser's process.
 *
 * @param profile the folder of the empty profile
 * @param sandbox whether the browser's own sandbox is on
 */
function createBrowserFlags(profile: string, sandbox: boolean): string[] {
  return [
    ...BROWSER_FLAGS,
    `--user-data-dir=${profile}`,
    ...(sandbox ? [] : ['--no-sandbox']),
    'about:blank',
  ];
}
