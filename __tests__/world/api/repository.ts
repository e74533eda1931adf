import { json } from '../front/http.ts';
import type { WorldRepository } from '../repository.ts';
import { covers } from '../tokens.ts';
import type { Call } from './call.ts';
import { fail } from './errors.ts';
import { route } from './routes.ts';

/** The API's address of a repository. */
export function apiUrl({ instance, fullName }: WorldRepository): string {
  return `${instance.api}/repos/${fullName}`;
}

/** The address of a repository's page for people. */
export function pageUrl({ instance, fullName }: WorldRepository): string {
  return `https://${instance.host}/${fullName}`;
}

/** A user in the API's short form. */
export function userView(login: string) {
  const type = login.endsWith('[bot]') ? 'Bot' : 'User';
  return {
    login,
    type,
    html_url: `https://github.com/${login}`,
    url: `https://api.github.com/users/${login}`,
  };
}

function view({ repository, permissions }: Call) {
  const { id, name, fullName, owner, isPrivate, branch, site, createdAt } = repository;
  return {
    id,
    name,
    full_name: fullName,
    private: isPrivate,
    visibility: isPrivate ? 'private' : 'public',
    owner: userView(owner),
    html_url: pageUrl(repository),
    url: apiUrl(repository),
    clone_url: `${pageUrl(repository)}.git`,
    default_branch: branch,
    has_pages: site !== null,
    has_issues: true,
    archived: false,
    disabled: false,
    fork: false,
    created_at: createdAt.toISOString(),
    ...(permissions === null
      ? {}
      : {
          permissions: {
            admin: false,
            maintain: false,
            push: covers(permissions.contents, 'write'),
            triage: false,
            pull: covers(permissions.contents, 'read'),
          },
        }),
  };
}

export const repositoryRoutes = [
  // Every token may see a repository's metadata.
  route('GET ', {}, (call) => json(200, view(call))),
  route('GET /branches/*branch', { contents: 'read' }, async ({ repository, parameters }) => {
    const { branch = '' } = parameters;
    const sha = (await repository.head(branch)) ?? fail(404, 'Branch not found');
    return json(200, { name: branch, commit: { sha }, protected: repository.isProtected });
  }),
];
