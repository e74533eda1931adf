import { randomBytes } from 'node:crypto';

export type Level = 'none' | 'read' | 'write';

/** What a workflow's `permissions:` can give. */
export interface Permissions {
  contents: Level;
  pages: Level;
  pull_requests: Level;
  issues: Level;
  deployments: Level;
}

/** Who can speak in a world, beside the owners of its repositories. */
export const PEOPLE = {
  /** A job's `GITHUB_TOKEN`. */
  workflow: 'github-actions[bot]',
  /** An app that is installed beside it. */
  app: 'other-app[bot]',
  /** Whoever grants access through the device flow, or has forked a repository. */
  human: 'human',
} as const;

/** What a fork's pull request gets, whatever its workflow asks. */
export const FORK: Permissions = {
  contents: 'read',
  pages: 'read',
  pull_requests: 'read',
  issues: 'read',
  deployments: 'read',
};

/** The tokens of a world, whose they are, and what they may. */
export class Tokens {
  readonly #permissions = new Map<string, Permissions>();
  readonly #logins = new Map<string, string>();

  /** A new token, of the workflow unless told; installations' and people's tokens are shaped differently. */
  issue(
    permissions: Partial<Permissions> = {},
    login: string = PEOPLE.workflow,
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

  permissionsOf(token: string): Permissions | undefined {
    return this.#permissions.get(token);
  }

  loginOf(token: string): string | undefined {
    return this.#logins.get(token);
  }
}

/** Whether a level covers what is needed. */
export function covers(has: Level, needs: 'read' | 'write'): boolean {
  return has === 'write' || has === needs;
}
