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

/** The tokens of a world and what they may. */
export class Tokens {
  readonly #permissions = new Map<string, Permissions>();

  /** A new token, shaped like a workflow's `GITHUB_TOKEN`. */
  issue(permissions: Partial<Permissions> = {}, prefix = 'ghs_'): string {
    const token = `${prefix}${randomBytes(27).toString('base64url').replace(/[-_]/g, 'x')}`;
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
}

/** Whether a level covers what is needed. */
export function covers(has: Level, needs: 'read' | 'write'): boolean {
  return has === 'write' || has === needs;
}
