import { BRANCH_RULES } from '../branch-rules.ts';
import type { HostedRepository } from '../repository.ts';
import { replyJson } from '../server/messages.ts';
import { getUserId, hasPermission } from '../tokens.ts';
import type { ApiCall } from './call.ts';
import { fail } from './errors.ts';
import { createRoute } from './routes.ts';

/** The API's address of a repository. */
export function getApiUrl({ instance, fullName }: HostedRepository): string {
  return `${instance.api}/repos/${fullName}`;
}

/** The address of a repository's web page. */
export function getPageUrl({ instance, fullName }: HostedRepository): string {
  return `https://${instance.host}/${fullName}`;
}

/** A GraphQL id, in the form of today's: a prefix for the kind, and the number. */
export function createNodeId(kind: string, id: number | string): string {
  return `${kind}_${Buffer.from(`${kind}${id}`).toString('base64url')}`;
}

const USER_LINKS = [
  'followers',
  'following{/other_user}',
  'gists{/gist_id}',
  'starred{/owner}{/repo}',
  'subscriptions',
  'orgs',
  'repos',
  'events{/privacy}',
  'received_events',
] as const;

/** A user or bot, in the form that other objects contain. */
export function formatUser(login: string) {
  const id = getUserId(login);
  const isBot = login.endsWith('[bot]');
  const url = `https://api.github.com/users/${encodeURIComponent(login)}`;
  const links = USER_LINKS.map((link): [string, string] => {
    const name = link.replace(/\{.*$/, '');
    return [`${name === 'orgs' ? 'organizations' : name}_url`, `${url}/${link}`];
  });
  return {
    login,
    id,
    node_id: createNodeId(isBot ? 'BOT' : 'U', id),
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: isBot ? `https://github.com/apps/${login.slice(0, -5)}` : `https://github.com/${login}`,
    ...Object.fromEntries(links),
    type: isBot ? 'Bot' : 'User',
    user_view_type: 'public',
    site_admin: false,
  };
}

/** The links of a repository object, as templates below its API address. */
const REPOSITORY_LINKS = {
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
} as const;

/** A repository, in the form that other objects contain. */
export function formatMinimalRepository(repository: HostedRepository) {
  const { id, name, fullName, owner, isPrivate } = repository;
  const url = getApiUrl(repository);
  const links = Object.entries(REPOSITORY_LINKS).map(([key, path]) => [key, `${url}${path}`]);
  return {
    id,
    node_id: createNodeId('R', id),
    name,
    full_name: fullName,
    private: isPrivate,
    owner: formatUser(owner),
    html_url: getPageUrl(repository),
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(links),
  };
}

const NOTHING_COUNTED = {
  forks: 0,
  forks_count: 0,
  open_issues: 0,
  open_issues_count: 0,
  watchers: 0,
  watchers_count: 0,
  stargazers_count: 0,
  network_count: 0,
  subscribers_count: 0,
};

/** A repository, with what the call's token may do in it. */
export function formatRepository({ repository, permissions }: ApiCall) {
  const { fullName, instance, isPrivate, branch, site, createdAt } = repository;
  const created = createdAt.toISOString();
  const page = getPageUrl(repository);
  const { contents = 'none' } = permissions ?? {};
  const granted = {
    admin: false,
    maintain: false,
    push: hasPermission(contents, 'write'),
    triage: false,
    pull: hasPermission(contents, 'read'),
  };
  return {
    ...formatMinimalRepository(repository),
    ...NOTHING_COUNTED,
    visibility: isPrivate ? 'private' : 'public',
    clone_url: `${page}.git`,
    git_url: `git://${instance.host}/${fullName}.git`,
    ssh_url: `git@${instance.host}:${fullName}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    size: 1,
    default_branch: branch,
    has_pages: site !== null,
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_discussions: false,
    has_downloads: true,
    archived: false,
    disabled: false,
    created_at: created,
    updated_at: created,
    pushed_at: created,
    ...(permissions === null ? {} : { permissions: granted }),
  };
}

const RULE_PARAMETERS: Readonly<Record<string, object>> = {
  pull_request: {
    parameters: {
      allowed_merge_methods: ['merge', 'squash', 'rebase'],
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_approving_review_count: 1,
      required_review_thread_resolution: false,
    },
  },
};

export const REPOSITORY_ROUTES = [
  // Every token may see a repository's metadata.
  createRoute('GET ', {}, (call) => replyJson(200, formatRepository(call))),
  createRoute('GET /branches/*branch', { contents: 'read' }, async ({ repository, parameters }) => {
    const { branch = '' } = parameters;
    const sha = (await repository.head(branch)) ?? fail(404, 'Branch not found');
    return replyJson(200, {
      name: branch,
      commit: { sha },
      protected: repository.rules.get(branch) !== null,
    });
  }),
  createRoute('GET /rules/branches/*branch', {}, ({ repository, parameters }) => {
    const rule = repository.rules.get(parameters.branch ?? '');
    const { type } = rule === null ? {} : BRANCH_RULES[rule];
    const origin = { ruleset_source_type: 'Repository', ruleset_source: repository.fullName, ruleset_id: 1 };
    return replyJson(200, type === undefined ? [] : [{ type, ...origin, ...RULE_PARAMETERS[type] }]);
  }),
];
