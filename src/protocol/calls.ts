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
  /** The only statuses that count as success; any 2xx where absent. */
  readonly expects?: readonly number[];
  /**
   * Whether a retryable failure is followed by another attempt. Not set where the caller asks again anyway
   * (a poll), or must first check what an earlier attempt changed.
   */
  readonly repeatable?: boolean;
  /** One of several calls that make up one write: not paced, because others could move the branch in a pause. */
  readonly partOfWrite?: boolean;
  /**
   * What a decision needs of the JSON of a success, which must be in it, because what is missing is not absent: the
   * path of a property, `[]` for each item of a list.
   */
  readonly returns?: string;
  /** What the body contains; absent when nothing is sent. */
  readonly sends?: string;
}

const REPO = '/repos/{owner}/{repo}';

type ReadTemplate = Required<
  Pick<CallTemplate, 'method' | 'path' | 'description' | 'permission' | 'returns'>
>;

/** A call that changes nothing, for a caller that asks again anyway, or can do without the answer. */
const ask = (path: string, description: string, permission: string, returns: string): ReadTemplate => ({
  method: 'GET',
  path,
  description,
  permission,
  returns,
});

/** A call that changes nothing, and is repeated. */
const read = (...template: Parameters<typeof ask>): CallTemplate => ({
  ...ask(...template),
  repeatable: true,
});

/** A call that changes something. @param route method and path */
function write(
  route: string,
  description: string,
  permission: string,
  more: Omit<CallTemplate, keyof ReadTemplate> & Pick<CallTemplate, 'returns'> = {},
): CallTemplate {
  const [method, path = ''] = route.split(' ');
  return { method: method as CallTemplate['method'], path, description, permission, ...more };
}

/** Calls to the hosting API, below `{api_url}`; routes and parameters have Octokit's names. @see protocol 4.2, 4.3 */
export const API = {
  get_repository: read(REPO, 'reading the repository', 'metadata: read', 'private'),
  get_file: read(`${REPO}/contents/{path}{?ref}`, 'reading the file record', 'contents: read', 'sha'),
  put_file_le1mb: write(`PUT ${REPO}/contents/{path}`, 'writing the file', 'contents: write', {
    expects: [200, 201],
    returns: 'commit.sha',
    sends: 'message, content (base64), branch, sha (only when replacing)',
  }),
  commits_of_path: read(
    `${REPO}/commits{?sha,path,per_page,page}`,
    "reading the file's history",
    'contents: read',
    '[].commit.message',
  ),
  tree_below: read(
    `${REPO}/git/trees/{tree_sha}{?recursive}`,
    "listing the branch's files",
    'contents: read',
    'tree.[].path',
  ),
  get_commit: read(
    `${REPO}/git/commits/{commit_sha}`,
    'reading the base commit',
    'contents: read',
    'tree.sha',
  ),
  blob: write(`POST ${REPO}/git/blobs`, 'creating the blob', 'contents: write', {
    expects: [201],
    repeatable: true,
    sends: 'content (base64), encoding (base64)',
  }),
  get_ref: read(`${REPO}/git/ref/{ref}`, 'reading the branch', 'contents: read', 'object.sha'),
  tree: write(`POST ${REPO}/git/trees`, 'creating the tree', 'contents: write', {
    repeatable: true,
    partOfWrite: true,
    returns: 'sha',
    sends: 'base_tree, tree [path, mode 100644, type blob, sha]',
  }),
  commit: write(`POST ${REPO}/git/commits`, 'creating the commit', 'contents: write', {
    repeatable: true,
    partOfWrite: true,
    returns: 'sha',
    sends: 'message, tree, parents [base commit]',
  }),
  update_ref: write(`PATCH ${REPO}/git/refs/{ref}`, 'updating the branch', 'contents: write', {
    partOfWrite: true,
    sends: 'sha, force (false)',
  }),
  create_ref: write(`POST ${REPO}/git/refs`, 'creating the branch', 'contents: write', {
    partOfWrite: true,
    sends: 'ref, sha',
  }),
  branch_rules: ask(
    `${REPO}/rules/branches/{branch}{?per_page}`,
    "reading the branch's rules",
    'metadata: read',
    '[]',
  ),
  compare: ask(`${REPO}/compare/{basehead}{?per_page}`, 'comparing two commits', 'contents: read', 'status'),
  pages_site: read(`${REPO}/pages`, 'reading the Pages settings', 'pages: read', 'public'),
  // A job can't be given this permission: only the token of an app or of a person may have it.
  create_pages_site: write(`POST ${REPO}/pages`, 'switching Pages on', 'administration: write', {
    sends: 'build_type (legacy), source {branch, path}',
  }),
  pages_latest: ask(`${REPO}/pages/builds/latest`, 'reading the latest Pages build', 'pages: read', 'status'),
  request_build: write(`POST ${REPO}/pages/builds`, 'requesting a Pages build', 'pages: write'),
  // Only where this action deploys the site itself. @see design 7
  create_pages_deployment: write(
    `POST ${REPO}/pages/deployments`,
    'creating the Pages deployment',
    'pages: write, id-token: write',
    { returns: 'id', sends: 'artifact_id, environment, pages_build_version, oidc_token' },
  ),
  pages_deployment: ask(
    `${REPO}/pages/deployments/{pages_deployment_id}`,
    'reading the Pages deployment',
    'pages: read',
    'status',
  ),
  archive: {
    ...read(`${REPO}/tarball/{ref}`, "reading the branch's archive", 'contents: read', ''),
    expects: [302],
  },
  deployments: ask(
    `${REPO}/deployments{?environment,task,per_page}`,
    'listing the deployments',
    'deployments: read',
    '[].id',
  ),
  deployment_statuses: ask(
    `${REPO}/deployments/{deployment_id}/statuses{?per_page}`,
    "reading a deployment's statuses",
    'deployments: read',
    '[].state',
  ),
  // A duplicate is retired like an older one.
  create_deployment: write(`POST ${REPO}/deployments`, 'creating the deployment', 'deployments: write', {
    expects: [201],
    repeatable: true,
    returns: 'id',
    sends:
      'ref, environment, task, payload, auto_merge (false), required_contexts ([]), transient_environment, production_environment',
  }),
  create_deployment_status: write(
    `POST ${REPO}/deployments/{deployment_id}/statuses`,
    "setting the deployment's state",
    'deployments: write',
    { repeatable: true, sends: 'state, description, log_url, environment_url, auto_inactive (false)' },
  ),
  get_workflow: read(
    `${REPO}/actions/workflows/{workflow_id}`,
    "reading the site's workflow",
    'actions: read',
    'state',
  ),
  dispatch_workflow: write(
    `POST ${REPO}/actions/workflows/{workflow_id}/dispatches`,
    "starting the site's workflow",
    'actions: write',
    { expects: [200, 204], sends: 'ref' },
  ),
  workflow_runs: ask(
    `${REPO}/actions/workflows/{workflow_id}/runs{?branch,per_page,exclude_pull_requests}`,
    "listing the runs of the site's workflow",
    'actions: read',
    'workflow_runs.[].id',
  ),
  pending_deployments: ask(
    `${REPO}/actions/runs/{run_id}/pending_deployments`,
    "reading what the run of the site's workflow waits for",
    'actions: read',
    '[].reviewers',
  ),
  // Before the first upload, which is the next write.
  create_release: write(`POST ${REPO}/releases`, 'creating the draft of the release', 'contents: write', {
    partOfWrite: true,
    returns: 'upload_url',
    sends: 'tag_name, name, body, draft (true)',
  }),
  publish_release: write(`PATCH ${REPO}/releases/{release_id}`, 'publishing the release', 'contents: write', {
    returns: 'id',
    sends: 'tag_name, name, body, draft (false), make_latest (false)',
  }),
  list_releases: read(`${REPO}/releases{?per_page,page}`, 'listing the releases', 'contents: read', '[].id'),
  get_release: read(
    `${REPO}/releases/{release_id}`,
    'reading the draft of the release',
    'contents: read',
    'id',
  ),
  release_by_tag: read(`${REPO}/releases/tags/{tag}`, 'reading the release', 'contents: read', 'upload_url'),
  list_assets: read(
    `${REPO}/releases/{release_id}/assets{?per_page,page}`,
    "listing the release's assets",
    'contents: read',
    '[].id',
  ),
  rename_asset: write(`PATCH ${REPO}/releases/assets/{asset_id}`, 'renaming the asset', 'contents: write', {
    repeatable: true,
    returns: 'browser_download_url',
    sends: 'name, label',
  }),
  delete_draft: write(
    `DELETE ${REPO}/releases/{release_id}`,
    'deleting our unpublished draft',
    'contents: write',
    { repeatable: true },
  ),
  delete_asset: write(`DELETE ${REPO}/releases/assets/{asset_id}`, 'deleting the asset', 'contents: write', {
    repeatable: true,
  }),
  // Whose token it is, and the history of many paths at once. On GitHub Enterprise Server its address is not below `{api_url}`.
  graphql: {
    method: 'POST',
    path: '/graphql',
    description: 'asking the GraphQL API',
    repeatable: true,
    sends: 'query',
  } as CallTemplate,
  list_pulls: read(
    `${REPO}/pulls{?head,state,per_page}`,
    "listing the branch's pull requests",
    'pull-requests: read',
    '[].number',
  ),
  list_issues: read(
    `${REPO}/issues{?creator,state,per_page,page}`,
    'listing the issues',
    'issues: read',
    '[].number',
  ),
  create_issue: write(`POST ${REPO}/issues`, 'opening the issue', 'issues: write', {
    returns: 'number',
    sends: 'title, body',
  }),
  update_issue: write(`PATCH ${REPO}/issues/{issue_number}`, 'updating the issue', 'issues: write', {
    repeatable: true,
    sends: 'title, body, state, state_reason',
  }),
  list_comments: read(
    `${REPO}/issues/{issue_number}/comments{?per_page,page}`,
    "listing the pull request's comments",
    'pull-requests: read',
    '[].id',
  ),
  create_comment: write(
    `POST ${REPO}/issues/{issue_number}/comments`,
    'writing the comment',
    'pull-requests: write',
    { sends: 'body' },
  ),
  update_comment: write(
    `PATCH ${REPO}/issues/comments/{comment_id}`,
    'updating the comment',
    'pull-requests: write',
    { sends: 'body' },
  ),
  delete_comment: write(
    `DELETE ${REPO}/issues/comments/{comment_id}`,
    'deleting a duplicate comment',
    'pull-requests: write',
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
