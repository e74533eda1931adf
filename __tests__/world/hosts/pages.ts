import { GITHUB_COM } from '../instance.ts';
import { NO_SITE } from '../pages/serve-site.ts';
import type { TestRepository } from '../repository.ts';
import { decodeComponent, type HostHandler, replyHtml } from '../server/messages.ts';

/** The handler of a host that belongs to Pages: `<owner>.github.io` or a site's own domain. */
export function createPagesHost(
  host: string,
  repositories: Iterable<TestRepository>,
): HostHandler | undefined {
  const all = [...repositories].filter(({ site }) => site !== null);
  const ownDomain = all.find(({ site }) => site?.cname === host);
  if (ownDomain !== undefined) return ownDomain.serveSite?.('/');
  const owner = /^([^.]+)\.github\.io$/.exec(host)?.[1];
  if (owner === undefined) return undefined;
  return createOwnerHost(
    all.filter((one) => one.instance === GITHUB_COM && one.owner.toLowerCase() === owner),
  );
}

function createOwnerHost(repositories: readonly TestRepository[]): HostHandler {
  return (request) => {
    const [, first = ''] = request.path.split('/');
    const project = repositories.find(
      ({ name }) => name.toLowerCase() === decodeComponent(first).toLowerCase(),
    );
    const user = repositories.find(({ name }) => name.toLowerCase() === request.host);
    const chosen = project ?? user;
    if (chosen === undefined) return replyHtml(404, NO_SITE);
    const prefix = chosen === project ? `/${first}/` : '/';
    return chosen.serveSite?.(prefix)(request) ?? replyHtml(404, NO_SITE);
  };
}
