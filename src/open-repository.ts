import type { OpenRepository } from './delivery/delivery-context.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from './errors.ts';
import { createGitHubClient, type GitHubClient } from './github/api/client.ts';
import {
  loadRepositoryContext,
  noAccessError,
  type RepositoryContext,
  type RepositoryQuery,
} from './github/api/repository.ts';
import { authorizeDevice } from './github/device-flow.ts';
import type { Ports } from './ports.ts';
import type { DeliveryRequest } from './request/parse-request.ts';

/** Gets a token if needed, loads the repository, and creates the channels. @see protocol 5 */
export async function openRepository(
  request: DeliveryRequest,
  query: RepositoryQuery,
  ports: Ports,
  authorize = authorizeDevice,
): Promise<OpenRepository> {
  ports.logger.startSection('Authorize');
  const { checkOnly = false } = request;
  const github = checkOnly ? withoutHost(request, ports) : await openGitHub(request, query, authorize, ports);
  const access = await loadRepositoryContext(
    github,
    checkOnly ? { repository: false, pagesSettings: false } : query,
  );
  for (const line of describeRepository(access)) ports.logger.info(line);
  // Loaded late to start fast: most of the code is behind it. `eager` keeps the bundle one file.
  const { createChannels } = await import(/* webpackMode: "eager" */ './create-channels.ts');
  return { access, channels: createChannels(request, access, ports) };
}

/** An API for a check, which plans but sends no request. */
function withoutHost(
  { apiUrl, token, clientId, repository }: DeliveryRequest,
  ports: Ports,
): Result<GitHubClient> {
  const http = async () => {
    throw new DeliveryError('INTERNAL', 'a check asks no host');
  };
  const hasToken = token !== undefined || (clientId !== undefined && repository !== undefined);
  return hasToken && repository !== undefined
    ? createGitHubClient({ apiUrl, token: '', repository }, { ...ports, http })
    : noAccessError(hasToken, repository !== undefined);
}

function describeRepository({ github, privateRepository, pagesSettings }: RepositoryContext): string[] {
  const isAlone = hasFailed(github) && github.code === 'BAD_INPUT';
  const token = isAlone ? 'found, but no repository is known' : hasFailed(github) ? 'none' : 'found';
  const lines = [`token: ${token}`];
  if (privateRepository !== null) lines.push(`the repository is ${privateRepository ? 'private' : 'public'}`);
  if (pagesSettings === null) lines.push('the repository has no Pages site');
  else if (pagesSettings === 'unreadable') lines.push("the repository's Pages settings can't be read");
  else if (pagesSettings !== 'not-requested') {
    const source =
      pagesSettings.builtBy === 'workflow'
        ? 'a workflow'
        : `branch ${pagesSettings.branch}, folder /${pagesSettings.folder}`;
    lines.push(`the Pages site on ${pagesSettings.base.host} is built from ${source}`);
  }
  return lines;
}

/** The API for the given token, or for a token that a person grants. @see protocol 5 (4, 7) */
async function openGitHub(
  { apiUrl, token: given, clientId, repository, serverUrl, dryRun, operation }: DeliveryRequest,
  query: RepositoryQuery,
  authorize: typeof authorizeDevice,
  ports: Ports,
): Promise<Result<GitHubClient>> {
  const isNeeded = repository !== undefined && (query.repository || query.pagesSettings);
  const isAsked = given === undefined && clientId !== undefined && isNeeded && !dryRun;
  const token = isAsked ? await resultOf(() => authorize({ authUrl: serverUrl, clientId }, ports)) : given;
  if (token instanceof DeliveryError) {
    if (token.code !== 'NOT_AUTHORIZED') throw token;
    return token;
  }
  if (token !== undefined && repository !== undefined)
    return createGitHubClient({ apiUrl, token, repository }, ports);
  const permissions = operation === 'audit' ? 'contents: read, pages: read' : undefined;
  return noAccessError(token !== undefined, repository !== undefined, permissions);
}
