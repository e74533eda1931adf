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
export function createBrowserFlags(profile: string, sandbox: boolean): string[] {
  return [
    ...BROWSER_FLAGS,
    `--user-data-dir=${profile}`,
    ...(sandbox ? [] : ['--no-sandbox']),
    'about:blank',
  ];
}
