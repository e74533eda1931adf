/** What to change, for failures that GitHub's API and git report alike. */

export const RETRY_HINT = 'run the step again, or use channel: K3';

export const CONFLICT_HINT = `another job writes here too: ${RETRY_HINT}`;

export const RATE_LIMIT_HINT =
  'GitHub limits this token for a while: run fewer deliveries at once, or later, or use channel: K3';

export const TOKEN_HINT =
  "set `token:` to a valid token, or leave it out for the job's own ${{ github.token }}, or use channel: K3";

export const SSO_HINT =
  "authorize the token for the organization's single sign-on (Settings → Developer settings → Configure SSO), leave `token:` out for the job's own ${{ github.token }}, or use channel: K3";

export const ALLOW_LIST_HINT =
  'run the job on a runner whose address is on the IP allow list of the organization, or use channel: K3';

export const PUSH_RULE_HINT =
  'a push rule of the repository forbids the name or the size of this file: set `path:` to a name that it allows, or use channel: K2, which pushes nothing';

export const NOT_FOUND_HINT =
  'check that `repository:` and `branch:` exist, and that `token:` may write there, or use channel: K3';

export const MOVED_HINT = 'the repository has moved: set `repository:` to its new name';

export const PAGE_HINT =
  "check `api-url:` and the proxy in the job's `https_proxy` variable, or use channel: K3";

export const NEWER_ACTION_HINT = 'use the newest version of this action, or use channel: K3';

export const RULE_HINT =
  'set `branch:` to one without the rule and open a pull request from it, set `token:` to one that may bypass the rule, or use channel: K2, which pushes nothing';

export const SIGNATURE_HINT =
  'set `branch:` to one without the rule, set `token:` to one that may bypass the rule, or use channel: K2, which pushes nothing';

export const SECRET_HINT =
  'remove the secret from the file and revoke it: push protection of the repository found it';

export const ARCHIVED_HINT =
  'unarchive it under Settings → General, set `repository:` to another one, or use channel: K3';

export const SIZE_HINT = 'use channel: K2 for a file of this size';

export const OTHER_PATH_HINT = 'set `path:` to a place of its own';

/** @param permissions such as `contents: write, pages: read` */
export function formatPermissionHint(permissions: string): string {
  return `add \`permissions: { ${permissions} }\` to the job; a pull request from a fork gets a read-only token: use channel: K3 there`;
}
