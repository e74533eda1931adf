import type { PullRequestPayload } from '../issue-tracker.ts';
import type { TestRepository } from '../repository.ts';
import { NO_PERMISSIONS, type TokenPermissions } from '../tokens.ts';
import type { PermissionGrants } from './definition.ts';

/** An event of a repository, with the data for the runs that it starts. */
export interface WorkflowEvent {
  readonly repository: TestRepository;
  readonly name: string;
  readonly payload: EventPayload;
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  readonly sha: string;
  /** The files for a checkout; absent if the event has nothing to check out. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
}

export interface EventPayload {
  readonly action?: string;
  readonly number?: number;
  readonly schedule?: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly pull_request?: PullRequestPayload;
  readonly workflow_run?: { readonly name: string; readonly head_sha: string };
}

export interface RunIdentity {
  readonly id: number;
  readonly workflow: string;
}

export function createGithubContext(
  event: WorkflowEvent,
  { id, workflow }: RunIdentity,
  job: string,
  token: string,
) {
  const { repository, name, payload, ref, sha } = event;
  const [, kind = '', shortRef = ''] = /^refs\/(heads|tags|pull)\/(.+)$/.exec(ref) ?? [];
  return {
    event: payload,
    event_name: name,
    repository: repository.fullName,
    repository_owner: repository.owner,
    ref,
    ref_name: shortRef,
    ref_type: kind === 'tags' ? 'tag' : 'branch',
    head_ref: payload.pull_request?.head.ref ?? '',
    sha,
    run_id: String(id),
    run_number: '1',
    run_attempt: '1',
    workflow,
    job,
    actor: repository.owner,
    api_url: 'https://api.github.com',
    server_url: 'https://github.com',
    token,
  };
}

export type GithubContext = ReturnType<typeof createGithubContext>;

/** Fields of the context that are not in a step's environment. */
const CONTEXT_ONLY: readonly string[] = ['event', 'token'];

/** The step's environment variables from the `github` context. */
export function createGithubEnvironment(context: GithubContext): Record<string, string> {
  const handed = Object.entries(context).filter(([name]) => !CONTEXT_ONLY.includes(name));
  return Object.fromEntries(handed.map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, String(value)]));
}

/** The permissions of a job's token: those granted, and at most read for a fork. */
export function computeJobPermissions(
  grants: PermissionGrants,
  { name, payload: { pull_request } }: WorkflowEvent,
): TokenPermissions {
  const isForks =
    name === 'pull_request' && pull_request?.head.repo.full_name !== pull_request?.base.repo.full_name;
  const granted = Object.entries(grants).map(([grant, level]) => [
    grant.replaceAll('-', '_'),
    isForks && level === 'write' ? 'read' : level,
  ]);
  return { ...NO_PERMISSIONS, ...Object.fromEntries(granted) };
}
