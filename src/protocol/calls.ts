/**
 * Calls to the hosts as templates: the code sends them, the machine contract prints them.
 * Paths are RFC 6570 templates below the host.
 *
 * @see protocol 4
 */

export interface CallTemplate {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What the call does, as an error message names it. */
  readonly description: string;
  /** The permission of the job that the call needs, as YAML such as `pages: read`; absent where there is none. */
  readonly permission?: string;
  /** The statuses of a success; 200, 201 and 204 where absent. */
  readonly expects?: readonly number[];
  /**
   * Whether a retryable failure is followed by another attempt. Not set where the caller asks again anyway
   * (a poll), or must first check what an earlier attempt changed.
   */
  readonly repeatable?: boolean;
  /** One of several calls that make up one write: not paced, because others could move the branch in a pause. */
  readonly partOfWrite?: boolean;
  /** What the body contains, for the machine contract. */
  readonly sends?: string;
}

const REPO = '/repos/{owner}/{repo}';

/** A call that changes nothing, for a caller that asks again anyway, or can do without the answer. */
const ask = (resource: string, path: string, description: string) => ({
  method: 'GET' as const,
  path: REPO + path,
  description,
  permission: `${resource}: read`,
});

/** A call that changes nothing, and is repeated. */
const read = (...template: Parameters<typeof ask>): CallTemplate => ({
  ...ask(...template),
  repeatable: true,
});

/** A call that changes something. @param route method and path */
function write(
  resource: string,
  route: string,
  description: string,
  more: Partial<CallTemplate> = {},
): CallTemplate {
  const [method, path = ''] = route.split(' ');
  const permission = `${resource}: write`;
  return { method: method as CallTemplate['method'], path: REPO + path, description, permission, ...more };
}

/** Calls to the hosting API, below `{api_url}`; routes and parameters have Octokit's names. @see protocol 4.2, 4.3 */
export const API = {
  get_repository: read('metadata', '', 'reading the repository'),
  get_file: read('contents', '/contents/{path}{?ref}', 'reading the file record'),
  put_file_le1mb: write('contents', 'PUT /contents/{path}', 'writing the file', {
    expects: [200, 201],
    sends: 'message, content (base64), branch, sha (only when replacing)',
  }),
  commits_of_path: read('contents', '/commits{?sha,path,per_page,page}', "reading the file's history"),
  tree_below: read('contents', '/git/trees/{tree_sha}{?recursive}', "listing the branch's files"),
  get_commit: read('contents', '/git/commits/{commit_sha}', 'reading the base commit'),
  blob: write('contents', 'POST /git/blobs', 'creating the blob', {
    expects: [201],
    repeatable: true,
    sends: 'content (base64), encoding (base64)',
  }),
  get_ref: read('contents', '/git/ref/{ref}', 'reading the branch'),
  tree: write('contents', 'POST /git/trees', 'creating the tree', {
    repeatable: true,
    partOfWrite: true,
    sends: 'base_tree, tree [path, mode 100644, type blob, sha]',
  }),
  commit: write('contents', 'POST /git/commits', 'creating the commit', {
    repeatable: true,
    partOfWrite: true,
    sends: 'message, tree, parents [base commit]',
  }),
  update_ref: write('contents', 'PATCH /git/refs/{ref}', 'updating the branch', {
    partOfWrite: true,
    sends: 'sha, force (false)',
  }),
  create_ref: write('contents', 'POST /git/refs', 'creating the branch', {
    partOfWrite: true,
    sends: 'ref, sha',
  }),
  branch_rules: ask('metadata', '/rules/branches/{branch}{?per_page}', "reading the branch's rules"),
  compare: ask('contents', '/compare/{basehead}{?per_page}', 'comparing two commits'),
  pages_site: read('pages', '/pages', 'reading the Pages settings'),
  // A job can't be given this permission: only the token of an app or of a person may have it.
  create_pages_site: write('administration', 'POST /pages', 'switching Pages on', {
    sends: 'build_type (legacy), source {branch, path}',
  }),
  pages_latest: ask('pages', '/pages/builds/latest', 'reading the latest Pages build'),
  request_build: write('pages', 'POST /pages/builds', 'requesting a Pages build'),
  // Only where this action deploys the site itself.
  create_pages_deployment: write(
    'pages: write, id-token',
    'POST /pages/deployments',
    'creating the Pages deployment',
  ),
  pages_deployment: ask('pages', '/pages/deployments/{pages_deployment_id}', 'reading the Pages deployment'),
  archive: { ...read('contents', '/tarball/{ref}', "reading the branch's archive"), expects: [302] },
  deployments: ask('deployments', '/deployments{?environment,task,per_page}', 'listing the deployments'),
  deployment_statuses: ask(
    'deployments',
    '/deployments/{deployment_id}/statuses{?per_page}',
    "reading a deployment's statuses",
  ),
  // A duplicate is retired like an older one.
  create_deployment: write('deployments', 'POST /deployments', 'creating the deployment', {
    expects: [201],
    repeatable: true,
  }),
  create_deployment_status: write(
    'deployments',
    'POST /deployments/{deployment_id}/statuses',
    "setting the deployment's state",
    { repeatable: true },
  ),
  get_workflow: read('actions', '/actions/workflows/{workflow_id}', "reading the site's workflow"),
  dispatch_workflow: write(
    'actions',
    'POST /actions/workflows/{workflow_id}/dispatches',
    "starting the site's workflow",
    { expects: [200, 204] },
  ),
  workflow_runs: ask(
    'actions',
    '/actions/workflows/{workflow_id}/runs{?branch,per_page,exclude_pull_requests}',
    "listing the runs of the site's workflow",
  ),
  // Before the first upload, which is the next write.
  create_release: write('contents', 'POST /releases', 'creating the draft of the release', {
    partOfWrite: true,
    sends: 'tag_name, name, body, draft (true)',
  }),
  publish_release: write('contents', 'PATCH /releases/{release_id}', 'publishing the release'),
  list_releases: read('contents', '/releases{?per_page,page}', 'listing the releases'),
  get_release: read('contents', '/releases/{release_id}', 'reading the draft of the release'),
  release_by_tag: read('contents', '/releases/tags/{tag}', 'reading the release'),
  list_assets: read(
    'contents',
    '/releases/{release_id}/assets{?per_page,page}',
    "listing the release's assets",
  ),
  rename_asset: write('contents', 'PATCH /releases/assets/{asset_id}', 'renaming the asset'),
  delete_draft: write('contents', 'DELETE /releases/{release_id}', 'deleting our unpublished draft', {
    repeatable: true,
  }),
  delete_asset: write('contents', 'DELETE /releases/assets/{asset_id}', 'deleting the asset', {
    repeatable: true,
  }),
  // Whose token it is, and the history of many paths at once. On GitHub Enterprise Server its address is not below `{api_url}`.
  graphql: {
    method: 'POST',
    path: '/graphql',
    description: 'asking the GraphQL API',
    repeatable: true,
  } as CallTemplate,
  list_pulls: read('pull-requests', '/pulls{?head,state,per_page}', "listing the branch's pull requests"),
  list_issues: read('issues', '/issues{?creator,state,per_page,page}', 'listing the issues'),
  create_issue: write('issues', 'POST /issues', 'opening the issue'),
  update_issue: write('issues', 'PATCH /issues/{issue_number}', 'updating the issue', { repeatable: true }),
  list_comments: read(
    'pull-requests',
    '/issues/{issue_number}/comments{?per_page,page}',
    "listing the pull request's comments",
  ),
  create_comment: write('pull-requests', 'POST /issues/{issue_number}/comments', 'writing the comment'),
  update_comment: write('pull-requests', 'PATCH /issues/comments/{comment_id}', 'updating the comment', {
    repeatable: true,
  }),
  delete_comment: write(
    'pull-requests',
    'DELETE /issues/comments/{comment_id}',
    'deleting a duplicate comment',
  ),
} satisfies Record<string, CallTemplate>;

/** A call's method and path without the query, as Octokit names its endpoints: `GET /repos/{owner}/{repo}/pages`. */
export function getRoute({ method, path }: CallTemplate): string {
  return `${method} ${path.replace(/\{\?.*\}$/, '')}`;
}

const API_BY_ROUTE: ReadonlyMap<string, CallTemplate> = new Map(
  Object.values(API).map((call) => [getRoute(call), call]),
);

/** The template of a call to the hosting API. @throws {Error} for a route that is not in the table. */
export function getApiCall(route: string): CallTemplate {
  const call = API_BY_ROUTE.get(route);
  if (call === undefined) throw new Error(`${route} is not in the table of API calls`);
  return call;
}

/** Calls to the upload host, below `{upload_url}`; the code takes the address from the release itself. @see protocol 4.3 */
export const UPLOAD = {
  asset: {
    method: 'POST',
    path: `${REPO}/releases/{id}/assets{?name,label}`,
    description: 'uploading the asset',
    permission: 'contents: write',
    expects: [201],
    sends: 'the raw bytes, Content-Type: application/octet-stream',
  },
} as const satisfies Record<string, CallTemplate>;

/** Calls to the anonymous file-bin, below `{bin_host_url}`. @see protocol 4.4 */
export const BIN = {
  post: {
    method: 'POST',
    path: '/{bin}/{filename}',
    description: 'posting to the bin',
    sends: 'the raw bytes, Content-Type: application/octet-stream',
  },
  get: { method: 'GET', path: '/{bin}/{filename}', description: 'reading from the bin' },
  list: { method: 'GET', path: '/{bin}', description: 'listing the bin' },
  lock: { method: 'PUT', path: '/{bin}', description: 'locking the bin' },
  remove: { method: 'DELETE', path: '/{bin}/{filename}', description: 'deleting from the bin' },
} as const satisfies Record<string, CallTemplate>;

/** Calls of the device flow, below `{auth_url}`. @see protocol 4.1 */
export const AUTH = {
  device_code: {
    method: 'POST',
    path: '/login/device/code',
    description: 'requesting a device code',
    sends: 'client_id, scope (repo)',
  },
  token: {
    method: 'POST',
    path: '/login/oauth/access_token',
    description: 'requesting the token',
    sends: 'client_id, device_code, grant_type (urn:ietf:params:oauth:grant-type:device_code)',
  },
  user_entry: { method: 'GET', path: '/login/device', description: 'opening the page for the user code' },
} as const satisfies Record<string, CallTemplate>;
