import { readFileSync } from 'node:fs';

/** What an event may tell. The runner wrote it, but any part may be missing or of another kind. */
export interface RunEvent {
  readonly pull_request?: EventPull;
  readonly issue?: { readonly number?: unknown; readonly pull_request?: unknown };
  readonly repository?: { readonly id?: unknown; readonly private?: unknown };
  readonly workflow_run?: EventWorkflowRun;
}

export interface EventPull {
  readonly number?: unknown;
  readonly state?: unknown;
  readonly head?: { readonly sha?: unknown; readonly repo?: { readonly full_name?: unknown } | null };
  readonly base?: { readonly repo?: { readonly id?: unknown; readonly full_name?: unknown } | null };
}

export interface EventWorkflowRun {
  readonly event?: unknown;
  readonly head_sha?: unknown;
  readonly head_branch?: unknown;
  readonly head_repository?: { readonly owner?: { readonly login?: unknown } } | null;
  readonly pull_requests?: readonly EventPull[] | null;
}

/** The event that the run is about; empty where it can't be read, so that nothing is taken from it. */
export function readEvent(path: string | undefined): RunEvent {
  if (path === undefined) return {};
  try {
    const event: unknown = JSON.parse(readFileSync(path, 'utf8'));
    // Every field is `unknown` in the type, and looked at where it is read.
    return typeof event === 'object' && event !== null ? (event as RunEvent) : {};
  } catch {
    // A missing or broken event tells nothing, and nothing is taken for public on its word.
    return {};
  }
}
