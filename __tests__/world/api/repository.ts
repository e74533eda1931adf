import { BRANCH_RULES } from '../branch-rules.ts';
import type { TestRepository } from '../repository.ts';
import { replyJson } from '../server/messages.ts';
import { getUserId } from '../tokens.ts';
import { createRoute } from './call.ts';

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

export const REPOSITORY_ROUTES = [
  // Every token may see a repository's metadata.
  createRoute('GET ', {}, ({ repository: { fullName, isPrivate } }) =>
    replyJson(200, { full_name: fullName, private: isPrivate }),
  ),
  createRoute('GET /rules/branches/*branch', {}, ({ repository }) => {
    const { rule } = repository;
    const type = rule && BRANCH_RULES[rule].type;
    const origin = { ruleset_source_type: 'Repository', ruleset_source: repository.fullName, ruleset_id: 1 };
    return replyJson(200, type === null ? [] : [{ type, ...origin }]);
  }),
];

/** A time as the API writes it: in whole seconds. */
export const formatTime = (time: Date): string => time.toISOString().replace(/\.\d+/, '');
