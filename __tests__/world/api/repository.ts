import { BRANCH_RULES } from '../branch-rules.ts';
import type { TestRepository } from '../repository.ts';
import { replyJson } from '../server/messages.ts';
import { getUserId, hasPermission } from '../tokens.ts';
import { type ApiCall, createRoute } from './call.ts';

export function getApiUrl({ instance, fullName }: TestRepository): string {
  return `${instance.api}/repos/${fullName}`;
}

export function getPageUrl({ instance, fullName }: TestRepository): string {
  return `https://${instance.host}/${fullName}`;
}

/** A user or bot, in the form that other objects contain. */
export function formatUser(login: string) {
  return { login, id: getUserId(login), type: login.endsWith('[bot]') ? 'Bot' : 'User' };
}

/** A repository, with what the call's token may do in it. */
export function formatRepository({ repository, permissions }: ApiCall) {
  const { id, name, fullName, owner, isPrivate, branch, site } = repository;
  const { contents = 'none' } = permissions ?? {};
  const granted = {
    admin: false,
    maintain: false,
    push: hasPermission(contents, 'write'),
    triage: false,
    pull: hasPermission(contents, 'read'),
  };
  return {
    id,
    name,
    full_name: fullName,
    private: isPrivate,
    owner: formatUser(owner),
    html_url: getPageUrl(repository),
    visibility: isPrivate ? 'private' : 'public',
    default_branch: branch,
    has_pages: site !== null,
    ...(permissions === null ? {} : { permissions: granted }),
  };
}

export const REPOSITORY_ROUTES = [
  // Every token may see a repository's metadata.
  createRoute('GET ', {}, (call) => replyJson(200, formatRepository(call))),
  createRoute('GET /rules/branches/*branch', {}, ({ repository }) => {
    const { rule } = repository;
    const type = rule && BRANCH_RULES[rule].type;
    const origin = { ruleset_source_type: 'Repository', ruleset_source: repository.fullName, ruleset_id: 1 };
    return replyJson(200, type === null ? [] : [{ type, ...origin }]);
  }),
];
