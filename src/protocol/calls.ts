/**
 * The hosts' calls as templates: the code sends them, the machine contract prints them.
 * Paths are RFC 6570 templates below the host; `{+path}` is already percent-encoded, segment by segment.
 *
 * @see protocol 4
 */

export interface CallTemplate {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What the call is for, as a failure's message names it. */
  readonly description: string;
  /** The only statuses that count as done; any success where absent. */
  readonly expects?: readonly number[];
  /** Whether it is one of several calls that make up a write, and not paced by itself: in a pause between them others would move the branch. */
  readonly part?: boolean;
  /** What the body carries; absent when nothing is sent. */
  readonly sends?: string;
}

const REPO = '/repos/{owner}/{repo}';

/** Calls to the hosting API, below `{api_url}`. @see protocol 4.2, 4.3 */
export const API = {
  get_repository: { method: 'GET', path: REPO, description: 'reading the repository' },
  get_file: { method: 'GET', path: `${REPO}/contents/{+path}{?ref}`, description: 'reading the file record' },
  put_file_le1mb: {
    method: 'PUT',
    path: `${REPO}/contents/{+path}`,
    description: 'writing the file',
    expects: [200, 201],
    sends: 'message, content (base64), branch, sha (only when replacing)',
  },
  commits_of_path: {
    method: 'GET',
    path: `${REPO}/commits{?sha,path,per_page}`,
    description: "reading the file's history",
  },
  tree_below: {
    method: 'GET',
    path: `${REPO}/git/trees/{sha}{?recursive}`,
    description: "listing the branch's files",
  },
  get_commit: { method: 'GET', path: `${REPO}/git/commits/{sha}`, description: 'reading the base commit' },
  blob: {
    method: 'POST',
    path: `${REPO}/git/blobs`,
    description: 'creating the blob',
    sends: 'content (base64), encoding (base64)',
  },
  get_ref: { method: 'GET', path: `${REPO}/git/ref/heads/{+branch}`, description: 'reading the branch' },
  tree: {
    method: 'POST',
    path: `${REPO}/git/trees`,
    description: 'creating the tree',
    part: true,
    sends: 'base_tree, tree [path, mode 100644, type blob, sha]',
  },
  commit: {
    method: 'POST',
    path: `${REPO}/git/commits`,
    description: 'creating the commit',
    part: true,
    sends: 'message, tree, parents [base commit]',
  },
  update_ref: {
    method: 'PATCH',
    path: `${REPO}/git/refs/heads/{+branch}`,
    description: 'updating the branch',
    part: true,
    sends: 'sha, force (false)',
  },
  compare: {
    method: 'GET',
    path: `${REPO}/compare/{base}...{head}{?per_page}`,
    description: 'comparing two commits',
  },
  pages_site: { method: 'GET', path: `${REPO}/pages`, description: 'reading the Pages settings' },
  pages_latest: {
    method: 'GET',
    path: `${REPO}/pages/builds/latest`,
    description: 'reading the latest Pages build',
  },
  request_build: { method: 'POST', path: `${REPO}/pages/builds`, description: 'requesting a Pages build' },
  deployments: {
    method: 'GET',
    path: `${REPO}/deployments{?environment,per_page}`,
    description: 'listing the deployments',
  },
  deployment_statuses: {
    method: 'GET',
    path: `${REPO}/deployments/{id}/statuses{?per_page}`,
    description: "reading a deployment's statuses",
  },
  create_release: {
    method: 'POST',
    path: `${REPO}/releases`,
    description: 'creating the release',
    part: true,
    sends: 'tag_name, name, body',
  },
  release_by_tag: { method: 'GET', path: `${REPO}/releases/tags/{+tag}`, description: 'reading the release' },
  list_assets: {
    method: 'GET',
    path: `${REPO}/releases/{id}/assets{?per_page,page}`,
    description: "listing the release's assets",
  },
  rename_asset: {
    method: 'PATCH',
    path: `${REPO}/releases/assets/{id}`,
    description: 'renaming the asset',
    sends: 'name, label',
  },
  delete_release: { method: 'DELETE', path: `${REPO}/releases/{id}`, description: 'deleting the release' },
  delete_tag: {
    method: 'DELETE',
    path: `${REPO}/git/refs/tags/{+tag}`,
    description: "deleting the release's tag",
  },
  delete_asset: { method: 'DELETE', path: `${REPO}/releases/assets/{id}`, description: 'deleting the asset' },
  // The one call that names the owner of any kind of token; GraphQL's address is not below `{api_url}` everywhere.
  viewer: { method: 'POST', path: '{+graphql}', description: 'asking whose token it is', sends: 'query' },
  list_pulls: {
    method: 'GET',
    path: `${REPO}/pulls{?head,state,per_page}`,
    description: "looking for the branch's pull request",
  },
  list_comments: {
    method: 'GET',
    path: `${REPO}/issues/{number}/comments{?per_page,page}`,
    description: "listing the pull request's comments",
  },
  create_comment: {
    method: 'POST',
    path: `${REPO}/issues/{number}/comments`,
    description: 'writing the comment',
    sends: 'body',
  },
  update_comment: {
    method: 'PATCH',
    path: `${REPO}/issues/comments/{id}`,
    description: 'updating the comment',
    sends: 'body',
  },
  delete_comment: {
    method: 'DELETE',
    path: `${REPO}/issues/comments/{id}`,
    description: 'deleting a second comment',
  },
} as const satisfies Record<string, CallTemplate>;

/** Calls to the upload host, below `{upload_url}`; the code takes the address from the release itself. @see protocol 4.3 */
export const UPLOAD = {
  asset: {
    method: 'POST',
    path: `${REPO}/releases/{id}/assets{?name,label}`,
    description: 'uploading the asset',
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
    description: 'asking for a device code',
    sends: 'client_id, scope (repo)',
  },
  token: {
    method: 'POST',
    path: '/login/oauth/access_token',
    description: 'asking for the token',
    sends: 'client_id, device_code, grant_type (urn:ietf:params:oauth:grant-type:device_code)',
  },
  user_entry: { method: 'GET', path: '/login/device', description: "opening the page for the human's code" },
} as const satisfies Record<string, CallTemplate>;
