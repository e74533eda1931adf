import { API, AUTH, BIN, type CallTemplate, UPLOAD } from './calls.ts';
import { BUILD_WAIT, MEGABYTE, SECOND, SIZE } from './limits.ts';
import { CHANNELS, GATES, NOT_DELIVERY, PROTOCOL } from './words.ts';

const formatMegabytes = (bytes: number): string => `${bytes / MEGABYTE} MB`;
const K1_LIMIT = formatMegabytes(SIZE.repository);

/** The content of `contract.json`, which agents read first. @see protocol 2.1 */
export function machineContract() {
  return {
    protocol: PROTOCOL.identifier,
    version: PROTOCOL.version,
    goal: PROTOCOL.goal,
    not_delivery: [...NOT_DELIVERY],
    channels: {
      [`K1_${PROTOCOL.vendor}_pages`]: pagesContract(),
      K2_release_assets: {
        create: formatCall(API.create_release, 'tag_name, name, body, draft (true)'),
        upload: formatCall(UPLOAD.asset, RAW_BYTES, '{upload_url}'),
        limits: `${SIZE.asset / MEGABYTE / 1024} GB per asset`,
      },
      K3_filebin: {
        post: `${formatCall(BIN.post, RAW_BYTES, '{bin_host_url}')}; 201 is asserted`,
        get: `${formatCall(BIN.get, '', '{bin_host_url}')}; 302 then 200 is normal`,
        rules: `${CHANNELS.K3.lifetime}; never for secrets`,
      },
      K4_native:
        'allowed only when it is a real external https:// URL that opens without the environment; otherwise an honest refusal',
    },
    gates: [...GATES],
    file_rules: fileRules(),
  };
}

const pagesContract = () => ({
  repo: '<owner>/<repo>',
  branch: 'main',
  pages_base: '{pages_base}',
  raw_base: '{raw_base}',
  auth: {
    method: `${PROTOCOL.vendor}_device_flow`,
    client_id: '<CLIENT_ID>',
    scope: 'repo',
    device_code: formatCall(AUTH.device_code, 'client_id, scope (repo)', '{auth_url}'),
    token: formatCall(
      AUTH.token,
      'client_id, device_code, grant_type (urn:ietf:params:oauth:grant-type:device_code)',
      '{auth_url}',
    ),
    user_entry: '{auth_url}/login/device',
    token_rules:
      'an existing token is used and the flow skipped; the token lives in memory only, never in files, commits, reports or logs',
  },
  api: {
    get_file: `${formatCall(API.get_file)}?ref=main`,
    put_file_le1mb: formatCall(
      API.put_file_le1mb,
      'message, content (base64), branch, sha (only when replacing)',
    ),
    blob: formatCall(API.blob, 'content (base64), encoding (base64)'),
    tree: formatCall(API.tree, 'base_tree, tree [path, mode 100644, type blob, sha]'),
    commit: formatCall(API.commit, 'message, tree, parents [base commit]'),
    ref: `${formatCall(API.get_ref)}; ${formatCall(API.update_ref, 'sha, force (false)')}; with \`setup\` also ${formatCall(API.create_ref, 'ref, sha')}`,
    pages_latest: `${formatCall(API.pages_latest)}, at most ${BUILD_WAIT.polls} polls ${BUILD_WAIT.interval / SECOND} s apart; with \`setup\` also ${formatCall(API.create_pages_site, 'build_type (legacy), source {branch, path}')}`,
  },
});

const fileRules = () => ({
  on_screen:
    'one self-contained .html file: styles and scripts inside, no external dependency, works offline',
  for_machine: '.md, may be placed alongside',
  naming: 'Latin letters, digits, _ and - preferred; Cyrillic allowed, percent-encoded in URLs; no spaces',
  size: `K1 up to ${formatMegabytes(SIZE.methodA)} by the content-write call, above by the object API up to ${K1_LIMIT}; above ${K1_LIMIT} K2 or K3`,
  secrets: 'no tokens, cookies, passwords or personal data in files, commits, public bins, reports or logs',
});

const RAW_BYTES = 'the raw bytes, Content-Type: application/octet-stream';

/** Formats a call in the protocol's notation. @param sends what its body contains */
function formatCall({ method, path }: CallTemplate, sends = '', host = '{api_url}'): string {
  const shown = path
    .replace('{owner}/{repo}', '<owner>/<repo>')
    .replace('{path}', '{path_urlencoded}')
    .replace('{ref}', 'heads/main')
    .replace('/{id}/assets', '/{id}/assets?name={file}');
  return `${method} ${host}${shown}${sends && ` (${sends})`}`;
}
