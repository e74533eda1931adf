import { decoded, type Handler, html, redirect } from '../front/http.ts';
import { GITHUB_COM } from '../instance.ts';
import type { WorldRepository } from '../repository.ts';

const NO_SITE =
  "<!DOCTYPE html>\n<html><body><h1>404</h1><p>There isn't a GitHub Pages site here.</p></body></html>\n";

/** The handler of a host that belongs to Pages: `<owner>.github.io` or a site's own domain. */
export function pagesHost(host: string, repositories: Iterable<WorldRepository>): Handler | undefined {
  const all = [...repositories].filter(({ site }) => site !== null);
  const ownDomain = all.find(({ site }) => site?.cname === host);
  if (ownDomain !== undefined) return ownDomain.serveSite?.('/');
  const owner = /^([^.]+)\.github\.io$/.exec(host)?.[1];
  if (owner === undefined) return undefined;
  return ownersHost(all.filter((one) => one.instance === GITHUB_COM && one.owner.toLowerCase() === owner));
}

function ownersHost(repositories: readonly WorldRepository[]): Handler {
  return (request) => {
    const [, first = '', ...rest] = request.path.split('/');
    const project = repositories.find(({ name }) => name.toLowerCase() === decoded(first).toLowerCase());
    const user = repositories.find(({ name }) => name.toLowerCase() === request.host);
    const chosen = project ?? user;
    if (chosen === undefined) return html(404, NO_SITE);
    const prefix = chosen === project ? `/${first}/` : '/';
    if (chosen.pages.cname !== null) {
      const origin = `https://${request.host}`;
      return redirect(`${chosen.pages.url}${request.url.slice(origin.length + prefix.length)}`, 301);
    }
    if (chosen === project && rest.length === 0) return redirect(chosen.pages.url, 301);
    return chosen.serveSite?.(prefix)(request) ?? html(404, NO_SITE);
  };
}
