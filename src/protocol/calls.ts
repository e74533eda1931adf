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
  /** What is read from the JSON of a success, and so must be in it: the path of a property, `[]` for a list and each of its items. */
  readonly returns?: string;
  /** What the body contains; absent when nothing is sent. */
  readonly sends?: string;
}

const REPO = '/repos/{owner}/{repo}';

/** Calls to the hosting API, below `{api_url}`; routes and parameters have Octokit's names. @see protocol 4.2, 4.3 */
export const API = {
  get_repository: {
    method: 'GET',
    path: REPO,
    description: 'reading the repository',
    permission: 'metadata: read',
    repeatable: true,
    returns: 'private',
  },
  // Only where a repository has moved: for the name in the error's message, which must not wait.
  repository_by_id: {
    method: 'GET',
    path: '/repositories/{repository_id}',
    description: 'reading the new name of the repository',
    permission: 'metadata: read',
    returns: 'full_name',
  },
  get_file: {
    method: 'GET',
    path: `${REPO}/contents/{path}{?ref}`,
    description: 'reading the file record',
    permission: 'contents: read',
    repeatable: true,
    returns: 'sha',
  },
  put_file_le1mb: {
    method: 'PUT',
    path: `${REPO}/contents/{path}`,
    description: 'writing the file',
    permission: 'contents: write',
    expects: [200, 201],
    returns: 'commit.sha',
    sends: 'message, content (base64), branch, sha (only when replacing)',
  },
  commits_of_path: {
    method: 'GET',
    path: `${REPO}/commits{?sha,path,per_page,page}`,
    description: "reading the file's history",
    permission: 'contents: read',
    repeatable: true,
    returns: '[].commit.message',
  },
  tree_below: {
    method: 'GET',
    path: `${REPO}/git/trees/{tree_sha}{?recursive}`,
    description: "listing the branch's files",
    permission: 'contents: read',
    repeatable: true,
    returns: 'tree',
  },
  get_commit: {
    method: 'GET',
    path: `${REPO}/git/commits/{commit_sha}`,
    description: 'reading the base commit',
    permission: 'contents: read',
    repeatable: true,
    returns: 'tree.sha',
  },
  blob: {
    method: 'POST',
    path: `${REPO}/git/blobs`,
    description: 'creating the blob',
    permission: 'contents: write',
    repeatable: true,
    sends: 'content (base64), encoding (base64)',
  },
  get_ref: {
    method: 'GET',
    path: `${REPO}/git/ref/{ref}`,
    description: 'reading the branch',
    permission: 'contents: read',
    repeatable: true,
    returns: 'object.sha',
  },
  tree: {
    method: 'POST',
    path: `${REPO}/git/trees`,
    description: 'creating the tree',
    permission: 'contents: write',
    repeatable: true,
    partOfWrite: true,
    returns: 'sha',
    sends: 'base_tree, tree [path, mode 100644, type blob, sha]',
  },
  commit: {
    method: 'POST',
    path: `${REPO}/git/commits`,
    description: 'creating the commit',
    permission: 'contents: write',
    repeatable: true,
    partOfWrite: true,
    returns: 'sha',
    sends: 'message, tree, parents [base commit]',
  },
  update_ref: {
    method: 'PATCH',
    path: `${REPO}/git/refs/{ref}`,
    description: 'updating the branch',
    permission: 'contents: write',
    partOfWrite: true,
    sends: 'sha, force (false)',
  },
  create_ref: {
    method: 'POST',
    path: `${REPO}/git/refs`,
    description: 'creating the branch',
    permission: 'contents: write',
    partOfWrite: true,
    sends: 'ref, sha',
  },
  branch_rules: {
    method: 'GET',
    path: `${REPO}/rules/branches/{branch}{?per_page}`,
    description: "reading the branch's rules",
    permission: 'metadata: read',
    returns: '[]',
  },
  compare: {
    method: 'GET',
    path: `${REPO}/compare/{basehead}{?per_page}`,
    description: 'comparing two commits',
    permission: 'contents: read',
    returns: 'status',
  },
  pages_site: {
    method: 'GET',
    path: `${REPO}/pages`,
    description: 'reading the Pages settings',
    permission: 'pages: read',
    repeatable: true,
    returns: 'public',
  },
  // A job can't be given this permission: only the token of an app or of a person may have it.
  create_pages_site: {
    method: 'POST',
    path: `${REPO}/pages`,
    description: 'switching Pages on',
    permission: 'administration: write',
    sends: 'build_type (legacy), source {branch, path}',
  },
  pages_latest: {
    method: 'GET',
    path: `${REPO}/pages/builds/latest`,
    description: 'reading the latest Pages build',
    permission: 'pages: read',
    returns: 'status',
  },
  request_build: {
    method: 'POST',
    path: `${REPO}/pages/builds`,
    description: 'requesting a Pages build',
    permission: 'pages: write',
  },
  deployments: {
    method: 'GET',
    path: `${REPO}/deployments{?environment,per_page}`,
    description: 'listing the deployments',
    permission: 'deployments: read',
    returns: '[]',
  },
  deployment_statuses: {
    method: 'GET',
    path: `${REPO}/deployments/{deployment_id}/statuses{?per_page}`,
    description: "reading a deployment's statuses",
    permission: 'deployments: read',
    returns: '[]',
  },
  get_workflow: {
    method: 'GET',
    path: `${REPO}/actions/workflows/{workflow_id}`,
    description: "reading the site's workflow",
    permission: 'actions: read',
    repeatable: true,
    returns: 'state',
  },
  dispatch_workflow: {
    method: 'POST',
    path: `${REPO}/actions/workflows/{workflow_id}/dispatches`,
    description: "starting the site's workflow",
    permission: 'actions: write',
    expects: [200, 204],
    sends: 'ref',
  },
  workflow_runs: {
    method: 'GET',
    path: `${REPO}/actions/workflows/{workflow_id}/runs{?branch,per_page,exclude_pull_requests}`,
    description: "listing the runs of the site's workflow",
    permission: 'actions: read',
    returns: 'workflow_runs',
  },
  pending_deployments: {
    method: 'GET',
    path: `${REPO}/actions/runs/{run_id}/pending_deployments`,
    description: "reading what the run of the site's workflow waits for",
    permission: 'actions: read',
    returns: '[]',
  },
  // Before the first upload, which is the next write.
  create_release: {
    method: 'POST',
    path: `${REPO}/releases`,
    description: 'creating the draft of the release',
    permission: 'contents: write',
    partOfWrite: true,
    returns: 'upload_url',
    sends: 'tag_name, name, body, draft (true)',
  },
  publish_release: {
    method: 'PATCH',
    path: `${REPO}/releases/{release_id}`,
    description: 'publishing the release',
    permission: 'contents: write',
    returns: 'id',
    sends: 'tag_name, name, body, draft (false), make_latest (false)',
  },
  list_releases: {
    method: 'GET',
    path: `${REPO}/releases{?per_page,page}`,
    description: 'listing the releases',
    permission: 'contents: read',
    repeatable: true,
    returns: '[]',
  },
  get_release: {
    method: 'GET',
    path: `${REPO}/releases/{release_id}`,
    description: 'reading the draft of the release',
    permission: 'contents: read',
    repeatable: true,
    returns: 'id',
  },
  release_by_tag: {
    method: 'GET',
    path: `${REPO}/releases/tags/{tag}`,
    description: 'reading the release',
    permission: 'contents: read',
    repeatable: true,
    returns: 'upload_url',
  },
  list_assets: {
    method: 'GET',
    path: `${REPO}/releases/{release_id}/assets{?per_page,page}`,
    description: "listing the release's assets",
    permission: 'contents: read',
    repeatable: true,
    returns: '[]',
  },
  rename_asset: {
    method: 'PATCH',
    path: `${REPO}/releases/assets/{asset_id}`,
    description: 'renaming the asset',
    permission: 'contents: write',
    repeatable: true,
    returns: 'browser_download_url',
    sends: 'name, label',
  },
  delete_draft: {
    method: 'DELETE',
    path: `${REPO}/releases/{release_id}`,
    description: 'deleting our unpublished draft',
    permission: 'contents: write',
    repeatable: true,
  },
  delete_asset: {
    method: 'DELETE',
    path: `${REPO}/releases/assets/{asset_id}`,
    description: 'deleting the asset',
    permission: 'contents: write',
    repeatable: true,
  },
  // Whose token it is, and the history of many paths at once. On GitHub Enterprise Server its address is not below `{api_url}`.
  graphql: {
    method: 'POST',
    path: '/graphql',
    description: 'asking the GraphQL API',
    repeatable: true,
    sends: 'query',
  },
  list_pulls: {
    method: 'GET',
    path: `${REPO}/pulls{?head,state,per_page}`,
    description: "listing the branch's pull requests",
    permission: 'pull-requests: read',
    repeatable: true,
    returns: '[]',
  },
  list_comments: {
    method: 'GET',
    path: `${REPO}/issues/{issue_number}/comments{?per_page,page}`,
    description: "listing the pull request's comments",
    permission: 'pull-requests: read',
    repeatable: true,
    returns: '[]',
  },
  create_comment: {
    method: 'POST',
    path: `${REPO}/issues/{issue_number}/comments`,
    description: 'writing the comment',
    permission: 'pull-requests: write',
    sends: 'body',
  },
  update_comment: {
    method: 'PATCH',
    path: `${REPO}/issues/comments/{comment_id}`,
    description: 'updating the comment',
    permission: 'pull-requests: write',
    sends: 'body',
  },
  delete_comment: {
    method: 'DELETE',
    path: `${REPO}/issues/comments/{comment_id}`,
    description: 'deleting a duplicate comment',
    permission: 'pull-requests: write',
  },
} as const satisfies Record<string, CallTemplate>;

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
