import { API, AUTH, BIN, type CallTemplate, UPLOAD } from './calls.ts';
import { BUILD_WAIT, MEGABYTE, SECOND, SIZE } from './limits.ts';
import { CHANNELS, GATES, NOT_DELIVERY, PROTOCOL } from './words.ts';

const megabytes = (bytes: number): string => `${bytes / MEGABYTE} MB`;
const SCREEN_LIMIT = megabytes(SIZE.repository);

/**
 * The machine contract that an agent parses first; `contract.json` is this, written out.
 *
 * @see protocol 2.1
 */
export function machineContract() {
  return {
    protocol: PROTOCOL.identifier,
    version: PROTOCOL.version,
    goal: PROTOCOL.goal,
    not_delivery: [...NOT_DELIVERY],
    channels: {
      [`K1_${PROTOCOL.vendor}_pages`]: {
        repo: '<owner>/<repo>',
        branch: 'main',
        pages_base: '{pages_base}',
        raw_base: '{raw_base}',
        auth: {
          method: `${PROTOCOL.vendor}_device_flow`,
          client_id: '<CLIENT_ID>',
          scope: 'repo',
          device_code: print(AUTH.device_code, '{auth_url}'),
          token: print(AUTH.token, '{auth_url}'),
          user_entry: '{auth_url}/login/device',
          token_rules:
            'an existing token is used and the flow skipped; the token lives in memory only, never in files, commits, reports or logs',
        },
        api: {
          get_file: print(API.get_file, '{api_url}'),
          put_file_le1mb: print(API.put_file_le1mb, '{api_url}'),
          blob: print(API.blob, '{api_url}'),
          tree: print(API.tree, '{api_url}'),
          commit: print(API.commit, '{api_url}'),
          ref: `${print(API.get_ref, '{api_url}')}; ${print(API.update_ref, '{api_url}')}`,
          pages_latest: `${print(API.pages_latest, '{api_url}')}, at most ${BUILD_WAIT.polls} polls ${BUILD_WAIT.interval / SECOND} s apart`,
        },
      },
      K2_release_assets: {
        create: print(API.create_release, '{api_url}'),
        upload: print(UPLOAD.asset, '{upload_url}'),
        limits: `${SIZE.asset / MEGABYTE / 1024} GB per asset`,
      },
      K3_filebin: {
        post: `${print(BIN.post, '{bin_host_url}')}; 201 is asserted`,
        get: `${print(BIN.get, '{bin_host_url}')}; 302 then 200 is normal`,
        rules: `${CHANNELS.K3.lifetime}; never for secrets`,
      },
      K4_native:
        'allowed only when it is a real external https:// URL that opens without the environment; otherwise an honest refusal',
    },
    gates: [...GATES],
    file_rules: {
      on_screen:
        'one self-contained .html file: styles and scripts inside, no external dependency, works offline',
      for_machine: '.md, may stand alongside',
      naming:
        'Latin letters, digits, _ and - preferred; Cyrillic allowed, percent-encoded in URLs; no spaces',
      size: `K1 up to ${megabytes(SIZE.methodA)} by the content-write call, above by the object API up to ${SCREEN_LIMIT}; above ${SCREEN_LIMIT} K2 or K3`,
      secrets:
        'no tokens, cookies, passwords or personal data in files, commits, public bins, reports or logs',
    },
  };
}

/** Prints a call in the protocol's notation. */
function print(call: CallTemplate, host: string): string {
  const path = call.path
    .replace('{owner}/{repo}', '<owner>/<repo>')
    .replace('{path}', '{path_urlencoded}')
    .replace('{ref}', 'heads/main')
    .replace('{?ref}', '?ref=main')
    .replace('{?name,label}', '?name={file}');
  return `${call.method} ${host}${path}${call.sends === undefined ? '' : ` (${call.sends})`}`;
}
