import { readJobRuntime } from '../channels/pages/deploy/job-runtime.ts';
import { readCredentials } from '../credentials.ts';
import { readWorkflowRun } from '../github/workflow-run.ts';
import type { Ports } from '../ports.ts';
import { findFiles } from '../request/find-files.ts';
import { completeInputs, INPUT_NAMES, type RawInputs } from '../request/inputs.ts';
import { operationOf, type RunContext } from '../request/parse-request.ts';
import { ACTION, type Face } from '../words.ts';
import { type CurrentRun, findCommit, findOpenPull, findReadOnlyFork } from './current-run.ts';

/** Every input as the runner passes it; an empty one gets its default. */
export function readInputs(env: NodeJS.ProcessEnv): RawInputs {
  const given = INPUT_NAMES.flatMap((name) => {
    const text = env[`INPUT_${name.toUpperCase()}`] ?? '';
    // All bytes are delivered, even a last line break.
    const value = name === 'content' ? text : text.trim();
    return value === '' ? [] : [[name, value]];
  });
  return completeInputs(Object.fromEntries(given), env);
}

export function createRunContext(
  env: NodeJS.ProcessEnv,
  run: CurrentRun,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): RunContext & { readonly env: NodeJS.ProcessEnv } {
  const folder = env.GITHUB_WORKSPACE || process.cwd();
  const isPrivate: unknown = run.payload.repository?.private;
  return {
    env,
    folder,
    findFiles,
    fileSource: `from ${run.title}`,
    commit: findCommit(run),
    job: [env.GITHUB_WORKFLOW ?? '', env.GITHUB_JOB ?? ''].join('/'),
    deliverer: readWorkflowRun(env),
    now: clock.date(),
    random,
    sourceIsPrivate: typeof isPrivate === 'boolean' ? isPrivate : null,
    sourceRepositories: [env.GITHUB_REPOSITORY || null],
    runtime: readJobRuntime(env),
    openPull: findOpenPull(run),
    secrets: readCredentials(env),
    allowedRoots: [folder, env.RUNNER_TEMP ?? ''].filter((root) => root !== ''),
    allowsFullPaths: false,
  };
}

/** Names all permissions that the step needs, because listing any sets all others to none. */
export function describePermissions(inputs: RawInputs, missing: string, run: CurrentRun): string {
  const fork = findReadOnlyFork(run);
  if (fork !== null) {
    return `publish from a second workflow, because the token of a run for the fork ${fork} is read-only: see examples/fork-safe-build.yml and examples/fork-safe-publish.yml of this action`;
  }
  const isAudit = operationOf(inputs.operation) === 'audit';
  const level = isAudit ? 'read' : 'write';
  const { channel } = inputs;
  const usesPages = isAudit || /k1|pages/i.test(channel) || (/auto/i.test(channel) && inputs.tag === '');
  const needed = [
    ...(usesPages || /auto|k2|release/i.test(channel) ? [`contents: ${level}`] : []),
    ...(usesPages ? [`pages: ${level}`] : []),
    ...(inputs.comment.trim().toLowerCase() === 'true' ? ['pull-requests: write'] : []),
    ...(inputs.issue.trim().toLowerCase() === 'true' ? ['issues: write'] : []),
    ...(inputs.environment === '' ? [] : ['deployments: write']),
    ...(inputs['site-workflow'] === '' ? [] : ['actions: write']),
  ];
  const names = needed.map((permission) => permission.replace(/:.*/, ''));
  const others = missing.split(', ').filter((permission) => !names.includes(permission.replace(/:.*/, '')));
  return `give the job \`permissions: { ${[...needed, ...others].join(', ')} }\``;
}

export const NARROW_INPUTS: readonly string[] = ['name', 'content', 'marker'];

/** The texts of the narrow action, whose token is in `env:`. */
const { use: _, ...texts } = ACTION;
export const NARROW: Face = {
  ...texts,
  // An agent's page can't use another channel.
  orUse: () => '',
  input: (name, value) =>
    name === 'token' ? '`GITHUB_TOKEN` in the `env:` of the step' : ACTION.input(name, value),
  advise(hint, names) {
    const others = names.filter((name) => name !== 'token' && !NARROW_INPUTS.includes(name));
    if (others.length === 0) return hint;
    const list = others.map((name) => `\`${name}\``).join(', ');
    return `${hint} (this action takes only \`name\`, \`content\` and \`marker\`; use the full action to set ${list})`;
  },
};

/** The action's texts for one run, with its permissions. */
export function actionFace(env: NodeJS.ProcessEnv, inputs: RawInputs, run: CurrentRun): Face {
  // A runner passes all inputs of an action, even empty ones.
  if (inputs.confine !== '' && env.INPUT_CHANNEL === undefined) return NARROW;
  return { ...ACTION, grant: (permissions) => describePermissions(inputs, permissions, run) };
}
