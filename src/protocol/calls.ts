/** Calls to the hosts. The code sends them, and the machine contract prints them. @see protocol 4 */

export interface CallTemplate {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly description: string;
  /** The permission that a job needs, such as `pages: read`. */
  readonly permission?: string;
  /** 200, 201 and 204 by default. */
  readonly expects?: readonly number[];
  /** Whether to retry a failed call. False if the caller itself retries, or must check the result first. */
  readonly repeatable?: boolean;
  /** Part of the write before it. It isn't paced: during a pause others could move the branch or miss the asset. */
  readonly partOfWrite?: boolean;
}

const REPO = '/repos/{owner}/{repo}';

/** A call of the repository's API. By default only reads are retried. */
function call(
  route: string,
  permission: string,
  description: string,
  more: Pick<CallTemplate, 'expects' | 'repeatable' | 'partOfWrite'> = {},
): CallTemplate {
  const [method = '', path = ''] = route.split(' ');
  const repeatable = method === 'GET';
  return {
    method: method as CallTemplate['method'],
    path: REPO + path,
    permission,
    description,
    repeatable,
    ...more,
  };
}

const ONCE = { repeatable: false } as const;
const AGAIN = { repeatable: true } as const;
const PART = { partOfWrite: true } as const;

/** Calls below `{api_url}`, with Octokit's routes and parameters. @see protocol 4.2, 4.3 */
export const API = {
  get_repository: call('GET', 'metadata: read', 'reading the repository'),
  get_file: call('GET /contents/{path}', 'contents: read', 'reading the file'),
  put_file_le1mb: call('PUT /contents/{path}', 'contents: write', 'writing the file'),
  commits_of_path: call('GET /commits', 'contents: read', "reading the file's history"),
  tree_below: call('GET /git/trees/{tree_sha}', 'contents: read', "listing the branch's files"),
  get_commit: call('GET /git/commits/{commit_sha}', 'contents: read', 'reading the base commit'),
  blob: call('POST /git/blobs', 'contents: write', 'creating the blob', AGAIN),
  get_ref: call('GET /git/ref/{ref}', 'contents: read', 'reading the branch'),
  tree: call('POST /git/trees', 'contents: write', 'creating the tree', { ...AGAIN, ...PART }),
  commit: call('POST /git/commits', 'contents: write', 'creating the commit', { ...AGAIN, ...PART }),
  update_ref: call('PATCH /git/refs/{ref}', 'contents: write', 'updating the branch', PART),
  create_ref: call('POST /git/refs', 'contents: write', 'creating the branch', PART),
  branch_rules: call('GET /rules/branches/{branch}', 'metadata: read', "reading the branch's rules", ONCE),
  compare: call('GET /compare/{basehead}', 'contents: read', 'comparing two commits', ONCE),
  pages_site: call('GET /pages', 'pages: read', 'reading the Pages settings'),
  // Only an app or a person can have this permission, never a job.
  create_pages_site: call('POST /pages', 'administration: write', 'enabling Pages'),
  pages_latest: call('GET /pages/builds/latest', 'pages: read', 'reading the latest Pages build', ONCE),
  request_build: call('POST /pages/builds', 'pages: write', 'requesting a Pages build'),
  create_pages_deployment: call(
    'POST /pages/deployments',
    'pages: write, id-token: write',
    'creating the Pages deployment',
  ),
  pages_deployment: call(
    'GET /pages/deployments/{pages_deployment_id}',
    'pages: read',
    'reading the Pages deployment',
    ONCE,
  ),
  archive: call('GET /tarball/{ref}', 'contents: read', "reading the branch's archive", { expects: [302] }),
  deployments: call('GET /deployments', 'deployments: read', 'listing the deployments', ONCE),
  deployment_statuses: call(
    'GET /deployments/{deployment_id}/statuses',
    'deployments: read',
    "reading a deployment's statuses",
    ONCE,
  ),
  // A duplicate is deactivated like an older deployment.
  create_deployment: call('POST /deployments', 'deployments: write', 'creating the deployment', AGAIN),
  create_deployment_status: call(
    'POST /deployments/{deployment_id}/statuses',
    'deployments: write',
    "setting the deployment's state",
    AGAIN,
  ),
  get_workflow: call('GET /actions/workflows/{workflow_id}', 'actions: read', "reading the site's workflow"),
  dispatch_workflow: call(
    'POST /actions/workflows/{workflow_id}/dispatches',
    'actions: write',
    "starting the site's workflow",
  ),
  workflow_runs: call(
    'GET /actions/workflows/{workflow_id}/runs',
    'actions: read',
    "listing the runs of the site's workflow",
    ONCE,
  ),
  run_attempt: call(
    'GET /actions/runs/{run_id}/attempts/{attempt_number}',
    'actions: read',
    'reading how the run ended',
  ),
  // The first upload follows as the next write.
  create_release: call('POST /releases', 'contents: write', 'creating the draft of the release', PART),
  publish_release: call('PATCH /releases/{release_id}', 'contents: write', 'publishing the release'),
  list_releases: call('GET /releases', 'contents: read', 'listing the releases'),
  get_release: call('GET /releases/{release_id}', 'contents: read', 'reading the draft of the release'),
  release_by_tag: call('GET /releases/tags/{tag}', 'contents: read', 'reading the release'),
  list_assets: call('GET /releases/{release_id}/assets', 'contents: read', "listing the release's assets"),
  rename_asset: call('PATCH /releases/assets/{asset_id}', 'contents: write', 'renaming the asset', PART),
  delete_draft: call(
    'DELETE /releases/{release_id}',
    'contents: write',
    'deleting our unpublished draft',
    AGAIN,
  ),
  delete_asset: call('DELETE /releases/assets/{asset_id}', 'contents: write', 'deleting the asset', AGAIN),
  // For the token's account and the history of many paths. On Enterprise Server its URL is outside `{api_url}`.
  graphql: {
    method: 'POST',
    path: '/graphql',
    description: 'querying the GraphQL API',
    repeatable: true,
  } as CallTemplate,
  list_pulls: call('GET /pulls', 'pull-requests: read', "listing the branch's pull requests"),
  list_issues: call('GET /issues', 'issues: read', 'listing the issues'),
  create_issue: call('POST /issues', 'issues: write', 'opening the issue'),
  update_issue: call('PATCH /issues/{issue_number}', 'issues: write', 'updating the issue', AGAIN),
  list_comments: call(
    'GET /issues/{issue_number}/comments',
    'pull-requests: read',
    "listing the pull request's comments",
  ),
  create_comment: call('POST /issues/{issue_number}/comments', 'pull-requests: write', 'writing the comment'),
  update_comment: call(
    'PATCH /issues/comments/{comment_id}',
    'pull-requests: write',
    'updating the comment',
    AGAIN,
  ),
  delete_comment: call(
    'DELETE /issues/comments/{comment_id}',
    'pull-requests: write',
    'deleting a duplicate comment',
  ),
} satisfies Record<string, CallTemplate>;

/** A call's method and path, as Octokit names it: `GET /repos/{owner}/{repo}/pages`. */
export const getRoute = ({ method, path }: CallTemplate): string => `${method} ${path}`;

const API_BY_ROUTE: ReadonlyMap<string, CallTemplate> = new Map(
  Object.values(API).map((template) => [getRoute(template), template]),
);

/** The call with this route. @throws {Error} if the table doesn't have it */
export function getApiCall(route: string): CallTemplate {
  const found = API_BY_ROUTE.get(route);
  if (found === undefined) throw new Error(`${route} is not in the table of API calls`);
  return found;
}

/** Uploads an asset, below `{upload_url}`. The release itself has the URL. @see protocol 4.3 */
export const UPLOAD = { asset: call('POST /releases/{id}/assets', 'contents: write', 'uploading the asset') };

/** What a successful answer must have: a field, a nested field, or `[]` for a list. */
export const RESULT_FIELDS: readonly (readonly [string, readonly CallTemplate[]])[] = [
  ['[]', [API.commits_of_path, API.branch_rules, API.deployments, API.deployment_statuses]],
  ['[]', [API.list_releases, API.list_assets, API.list_pulls, API.list_issues, API.list_comments]],
  ['id', [API.create_deployment, API.create_pages_deployment, API.create_comment, UPLOAD.asset]],
  ['upload_url', [API.create_release, API.publish_release, API.get_release, API.release_by_tag]],
  ['sha', [API.blob, API.tree, API.commit]],
  ['tree', [API.tree_below]],
  ['tree.sha', [API.get_commit]],
  ['object.sha', [API.get_ref]],
  ['commit.sha', [API.put_file_le1mb]],
  ['workflow_runs', [API.workflow_runs]],
  ['data', [API.graphql]],
];

/** Calls to the anonymous file-bin, below `{bin_host_url}`. @see protocol 4.4 */
export const BIN = {
  post: { method: 'POST', path: '/{bin}/{filename}', description: 'posting to the bin' },
  get: { method: 'GET', path: '/{bin}/{filename}', description: 'reading from the bin' },
  list: { method: 'GET', path: '/{bin}', description: 'listing the bin' },
  lock: { method: 'PUT', path: '/{bin}', description: 'locking the bin' },
  remove: { method: 'DELETE', path: '/{bin}/{filename}', description: 'deleting from the bin' },
} as const satisfies Record<string, CallTemplate>;

/** Calls of the device flow, below `{auth_url}`. @see protocol 4.1 */
export const AUTH = {
  device_code: { method: 'POST', path: '/login/device/code', description: 'requesting a device code' },
  token: { method: 'POST', path: '/login/oauth/access_token', description: 'requesting the token' },
  user_entry: { method: 'GET', path: '/login/device', description: 'opening the page for the user code' },
} as const satisfies Record<string, CallTemplate>;
