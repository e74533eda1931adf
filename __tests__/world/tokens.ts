import { createHash, randomBytes } from 'node:crypto';

export type PermissionLevel = 'none' | 'read' | 'write';

const PERMISSIONS = [
  'contents',
  'pages',
  'pull_requests',
  'issues',
  'deployments',
  'actions',
  // No job's token ever has it.
  'administration',
] as const;

/** The permissions of a token, as in a workflow's `permissions:`. */
export type TokenPermissions = Record<(typeof PERMISSIONS)[number], PermissionLevel>;

const allOf = (level: PermissionLevel): TokenPermissions =>
  Object.fromEntries(PERMISSIONS.map((name) => [name, level])) as TokenPermissions;

export const NO_PERMISSIONS = allOf('none');
/** The permissions of a fork's pull request, independent of its workflow. */
export const FORK_PERMISSIONS: TokenPermissions = { ...allOf('read'), administration: 'none' };

/** Logins of the local GitHub, besides the repositories' owners. */
export const LOGINS = {
  /** A job's `GITHUB_TOKEN`. */
  workflow: 'github-actions[bot]',
  /** Another app in the same repository. */
  app: 'other-app[bot]',
  /** A user who grants access through the device flow, or has forked a repository. */
  human: 'human',
} as const;

/** The id of GitHub's own bot; other logins have made-up ids that stay the same. */
const KNOWN_IDS: ReadonlyMap<string, number> = new Map([[LOGINS.workflow, 41_898_282]]);

/** A login's numeric id. */
export function getUserId(login: string): number {
  const digits = createHash('sha1').update(login.toLowerCase()).digest().readUInt32BE(0);
  return KNOWN_IDS.get(login) ?? 1_000_000 + (digits % 9_000_000);
}

/** The tokens of the local GitHub with their logins and permissions. */
export class TokenStore {
  readonly #permissions = new Map<string, TokenPermissions>();
  readonly #logins = new Map<string, string>();

  /** Issues a token, by default for the workflow; tokens of apps and of users have different prefixes. */
  issue(
    permissions: Partial<TokenPermissions> = {},
    login: string = LOGINS.workflow,
    prefix = login.endsWith('[bot]') ? 'ghs_' : 'ghp_',
  ): string {
    const token = `${prefix}${randomBytes(27).toString('base64url').replace(/[-_]/g, 'x')}`;
    this.#logins.set(token, login);
    const usual = { contents: 'write', pages: 'write', pull_requests: 'write', deployments: 'read' } as const;
    const granted = { ...NO_PERMISSIONS, ...usual, ...permissions };
    if (login === LOGINS.workflow) granted.administration = 'none';
    this.#permissions.set(token, granted);
    return token;
  }

  getPermissions(token: string): TokenPermissions | undefined {
    return this.#permissions.get(token);
  }

  getLogin(token: string): string | undefined {
    return this.#logins.get(token);
  }
}

/** Whether a level includes the needed one. */
export function hasPermission(has: PermissionLevel, needs: 'read' | 'write'): boolean {
  return has === 'write' || has === needs;
}
