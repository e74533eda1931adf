import { decoded, type Handler, html, type Incoming, redirect } from '../front/http.ts';
import type { Enterprise } from '../instance.ts';
import type { WorldRepository } from '../repository.ts';

const LOGIN = '<!DOCTYPE html>\n<html><head><title>Sign in to your account</title></head></html>\n';
const RAW_BUTTON = /^(\/[^/]+\/[^/]+)\/raw(\/.+)$/;

interface Parts {
  readonly api: Handler;
  readonly uploads: Handler;
  readonly raw: Handler;
  /** Downloads, the device flow and git, as on github.com. */
  readonly people: Handler;
  readonly repositories: () => readonly WorldRepository[];
}

/** Plays the hosts of a GitHub Enterprise; each of its parts may be a host or a path of one. */
export function enterpriseHosts(instance: Enterprise, parts: Parts): ReadonlyMap<string, Handler> {
  const { host } = instance;
  const needsLogin = (request: Incoming): boolean =>
    request.headers.authorization === undefined && request.method === 'GET';
  const login = (request: Incoming) =>
    redirect(`https://${host}/login?return_to=${encodeURIComponent(request.url)}`);
  const shown =
    (handler: Handler, isSite = false): Handler =>
    (request) => {
      const open = instance.shows === 'everything' || (isSite && instance.shows === 'sites');
      return open || !needsLogin(request) ? handler(request) : login(request);
    };
  const people: Handler = (request) => {
    if (request.path === '/login') return html(200, LOGIN);
    const [, fullName, rest] = RAW_BUTTON.exec(request.path) ?? [];
    if (fullName !== undefined) return shown(() => redirect(`${instance.raw}${fullName}${rest}`))(request);
    return shown(parts.people)(request);
  };
  const bases: readonly (readonly [string, Handler])[] = [
    [instance.api, parts.api],
    [instance.uploads, parts.uploads],
    [instance.raw, shown(parts.raw)],
    [instance.site('', '').replace(/\/+$/, ''), shown(sites(instance, parts.repositories), true)],
    [`https://${host}`, people],
  ];
  return new Map(bases.map(([base]) => [new URL(base).host, atBases(bases)]));
}

/** Hands a request to the longest base that it lies below, its path without the base's own. */
function atBases(bases: readonly (readonly [string, Handler])[]): Handler {
  return (request) => {
    const url = `https://${request.host}${request.path}`;
    const [base, handler] = bases.find(([start]) => url === start || url.startsWith(`${start}/`)) ?? [];
    if (base === undefined || handler === undefined) return html(404, '<h1>404</h1>');
    return handler({ ...request, path: url.slice(base.length) });
  };
}

function sites(instance: Enterprise, repositories: () => readonly WorldRepository[]): Handler {
  return (request) => {
    const [, owner = '', name = ''] = request.path.split('/').map(decoded);
    const wanted = `${owner}/${name}`.toLowerCase();
    const repository = repositories().find(
      (one) => one.instance === instance && one.fullName.toLowerCase() === wanted,
    );
    return repository?.serveSite?.(`/${owner}/${name}/`)(request) ?? html(404, '<h1>404</h1>');
  };
}
