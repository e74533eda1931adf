import type { Ports } from '../ports.ts';
import { INPUTS, type InputName, type RawInputs } from '../request/inputs.ts';
import type { RunContext } from '../request/parse-request.ts';
import { readEvent } from './event.ts';

/** The runner's environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the runner puts in place of an expression, where a step is run without its defaults. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  '${{ github.repository }}': 'GITHUB_REPOSITORY',
  '${{ github.api_url }}': 'GITHUB_API_URL',
  '${{ github.server_url }}': 'GITHUB_SERVER_URL',
};

/** Every input as the runner hands it over; what is left empty takes its default. */
export function readInputs(env: Environment): RawInputs {
  const read = (name: InputName): string => {
    const said = (env[`INPUT_${name.toUpperCase()}`] ?? '').trim();
    return said === '' ? byDefault(INPUTS[name].default, env) : said;
  };
  const names = Object.keys(INPUTS) as InputName[];
  return Object.fromEntries(names.map((name) => [name, read(name)])) as RawInputs;
}

/** An empty token stays empty: it says that there is none. */
function byDefault(value: string, env: Environment): string {
  if (!value.startsWith('${{')) return value;
  return env[EXPRESSIONS[value] ?? ''] ?? '';
}

/** Variables in which the runner hands credentials of its own to a step. */
const JOB_SECRETS = ['GITHUB_TOKEN', 'GH_TOKEN', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];

/** What the runner tells of the job. */
export function readRunContext(
  env: Environment,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): RunContext {
  const folder = env.GITHUB_WORKSPACE || process.cwd();
  return {
    folder,
    origin: `from run ${env.GITHUB_RUN_NUMBER ?? '?'} of ${env.GITHUB_WORKFLOW ?? 'a workflow'}`,
    now: clock.now(),
    random,
    sourceIsPrivate: isSourcePrivate(env.GITHUB_EVENT_PATH),
    secrets: JOB_SECRETS.flatMap((name) => env[name] || []),
    allowedRoots: [folder, env.RUNNER_TEMP ?? ''].filter((wall) => wall !== ''),
  };
}

/** Whether the event's repository is private; `null` where the event doesn't say. */
function isSourcePrivate(eventPath: string | undefined): boolean | null {
  const said = readEvent(eventPath).repository?.private;
  return typeof said === 'boolean' ? said : null;
}
