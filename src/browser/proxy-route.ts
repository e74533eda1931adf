import type { EnvironmentVariables } from './find-browser.ts';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy of the environment for one address, by the same variables as for all other requests: `https_proxy`,
 * `http_proxy` and `no_proxy`, in small or capital letters.
 *
 * @returns `null` where the host is to be reached directly
 */
export function findUpstreamProxy(url: URL, environment: EnvironmentVariables): URL | null {
  const read = (name: string): string => environment[name] || environment[name.toUpperCase()] || '';
  const plain = read('http_proxy');
  const proxy = url.protocol === 'https:' ? read('https_proxy') || plain : plain;
  if (proxy === '' || isExcluded(url, read('no_proxy'))) return null;
  return URL.parse(proxy.includes('://') ? proxy : `http://${proxy}`);
}

/** Whether `no_proxy` names the host, an ending of it, or everything (`*`); with a port only that port. */
function isExcluded(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase();
  const port = url.port || DEFAULT_PORTS[url.protocol];
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
      if (onlyPort !== undefined && onlyPort !== port) return false;
      if (name === '*') return true;
      // A wildcard names only the hosts below; a leading dot names the host itself as well.
      const ending = name.replace(/^\*?\./, '');
      return (host === ending && !name.startsWith('*.')) || host.endsWith(`.${ending}`);
    });
}
