import { randomBytes } from 'node:crypto';

export type PermissionLevel = 'none' | 'read' | 'write';

/** What a workflow's `permissions:` can give. */
export interface TokenPermissions {
  contents: PermissionLevel;
  pages: PermissionLevel;
  pull_requests: PermissionLevel;
  issues: PermissionLevel;
  deployments: PermissionLevel;
}

/** Who can speak in a world, beside the owners of its repositories. */
export const LOGINS = {
  /** A job's `GITHUB_TOKEN`. */
  workflow: 'github-actions[bot]',
  /** An app that is installed beside it. */
  app: 'other-app[bot]',
  /** Whoever grants access through the device flow, or has forked a repository. */
  human: 'human',
} as const;

/** What a fork's pull request gets, whatever its workflow asks. */
export const FORK_PERMISSIONS: TokenPermissions = {
  contents: 'read',
  pages: 'read',
  pull_requests: 'read',
  issues: 'read',
  deployments: 'read',
};

/** The tokens of a world, whose they are, and what they may. */
export class TokenStore {
  readonly #permissions = new Map<string, TokenPermissions>();
  readonly #logins = new Map<string, string>();

  /** A new token, of the workflow unless told; installations' and people's tokens are shaped differently. */
  issue(
    permissions: Partial<TokenPermissions> = {},
    login: string = LOGINS.workflow,
    prefix = login.endsWith('[bot]') ? 'ghs_' : 'ghp_',
  ): string {
    const token = `${prefix}${randomBytes(27).toString('base64url').replace(/[-_]/g, 'x')}`;
    this.#logins.set(token, login);
    this.#permissions.set(token, {
      contents: 'write',
      pages: 'write',
      pull_requests: 'write',
      issues: 'none',
      deployments: 'read',
      ...permissions,
    });
    return token;
  }

  getPermissions(token: string): TokenPermissions | undefined {
    return this.#permissions.get(token);
  }

  getLogin(token: string): string | undefined {
    return this.#logins.get(token);
  }
}

/** Whether a level covers what is needed. */
export function hasPermission(has: PermissionLevel, needs: 'read' | 'write'): boolean {
  return has === 'write' || has === needs;
}
