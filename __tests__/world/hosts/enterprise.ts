import type { EnterpriseInstance } from '../instance.ts';
import type { TestRepository } from '../repository.ts';
import {
  decodeComponent,
  type HostHandler,
  type HostRequest,
  replyHtml,
  replyRedirect,
} from '../server/messages.ts';

const LOGIN_PAGE = '<!DOCTYPE html>\n<html><head><title>Sign in to your account</title></head></html>\n';
const RAW_BUTTON = /^(\/[^/]+\/[^/]+)\/raw(\/.+)$/;

interface EnterpriseHandlers {
  readonly api: HostHandler;
  readonly uploads: HostHandler;
  readonly raw: HostHandler;
  /** Downloads, the device flow and git, as on github.com. */
  readonly website: HostHandler;
  readonly repositories: () => readonly TestRepository[];
}

/** Simulates the hosts of a GitHub Enterprise; each part may be a host or a path of one. */
export function createEnterpriseHosts(
  instance: EnterpriseInstance,
  parts: EnterpriseHandlers,
): ReadonlyMap<string, HostHandler> {
  const { host } = instance;
  const needsLogin = (request: HostRequest): boolean =>
    request.headers.authorization === undefined && request.method === 'GET';
  const login = (request: HostRequest) =>
    replyRedirect(`https://${host}/login?return_to=${encodeURIComponent(request.url)}`);
  const shown =
    (handler: HostHandler, isSite = false): HostHandler =>
    (request) => {
      const open = instance.publicAccess === 'everything' || (isSite && instance.publicAccess === 'sites');
      return open || !needsLogin(request) ? handler(request) : login(request);
    };
  const people: HostHandler = (request) => {
    if (request.path === '/login') return replyHtml(200, LOGIN_PAGE);
    const [, fullName, rest] = RAW_BUTTON.exec(request.path) ?? [];
    if (fullName !== undefined)
      return shown(() => replyRedirect(`${instance.raw}${fullName}${rest}`))(request);
    return shown(parts.website)(request);
  };
  const bases: readonly (readonly [string, HostHandler])[] = [
    [instance.api, parts.api],
    [instance.uploads, parts.uploads],
    [instance.raw, shown(parts.raw)],
    [
      instance.site('', '').replace(/\/+$/, ''),
      shown(createSitesHandler(instance, parts.repositories), true),
    ],
    // GraphQL is beside the versions of the API.
    [instance.api.replace(/\/v3$/, ''), parts.api],
    [`https://${host}`, people],
  ];
  return new Map(bases.map(([base]) => [new URL(base).host, dispatchByBase(bases)]));
}

/** Dispatches a request to the first matching base address, with the rest of the path. */
function dispatchByBase(bases: readonly (readonly [string, HostHandler])[]): HostHandler {
  return (request) => {
    const url = `https://${request.host}${request.path}`;
    const [base, handler] = bases.find(([start]) => url === start || url.startsWith(`${start}/`)) ?? [];
    if (base === undefined || handler === undefined) return replyHtml(404, '<h1>404</h1>');
    return handler({ ...request, path: url.slice(base.length) });
  };
}

function createSitesHandler(
  instance: EnterpriseInstance,
  repositories: () => readonly TestRepository[],
): HostHandler {
  return (request) => {
    const [, owner = '', name = ''] = request.path.split('/').map(decodeComponent);
    const wanted = `${owner}/${name}`.toLowerCase();
    const repository = repositories().find(
      (one) => one.instance === instance && one.fullName.toLowerCase() === wanted,
    );
    return repository?.serveSite?.(`/${owner}/${name}/`)(request) ?? replyHtml(404, '<h1>404</h1>');
  };
}
