import { readCredentials } from '../credentials.ts';
import type { Ports } from '../ports.ts';
import { completeInputs, INPUT_NAMES, type RawInputs } from '../request/inputs.ts';
import type { RunContext } from '../request/parse-request.ts';
import type { Wording } from '../request/wording.ts';
import type { CurrentRun } from './current-run.ts';

/** The environment variables that the runner sets. */
export type RunnerEnvironment = Readonly<Record<string, string | undefined>>;

/** Every input as the runner passes it; an empty one gets its default. */
export function readInputs(env: RunnerEnvironment): RawInputs {
  const given = INPUT_NAMES.flatMap((name) => {
    const text = env[`INPUT_${name.toUpperCase()}`] ?? '';
    // What is delivered is proven byte by byte, its last line break too.
    const value = name === 'content' ? text : text.trim();
    return value === '' ? [] : [[name, value]];
  });
  return completeInputs(Object.fromEntries(given), env);
}

/** What a request needs to know about the job. */
export function createRunContext(
  env: RunnerEnvironment,
  { title, payload }: CurrentRun,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): RunContext {
  const folder = env.GITHUB_WORKSPACE || process.cwd();
  const isPrivate: unknown = payload.repository?.private;
  return {
    folder,
    origin: `from ${title}`,
    job: [env.GITHUB_WORKFLOW ?? '', env.GITHUB_JOB ?? ''].join('/'),
    now: clock.now(),
    random,
    sourceIsPrivate: typeof isPrivate === 'boolean' ? isPrivate : null,
    sources: [env.GITHUB_REPOSITORY || null],
    secrets: readCredentials(env),
    allowedRoots: [folder, env.RUNNER_TEMP ?? ''].filter((root) => root !== ''),
    allowsFullPaths: false,
    opensLinks: false,
  };
}

/** The inputs of the narrow action, in `agent/`. */
export const NARROW_INPUTS: readonly string[] = ['name', 'content', 'marker'];

const INPUT = new RegExp(`\`(${INPUT_NAMES.join('|')})(?::[^\`]*)?\`|\\buse (channel): K`, 'g');

/**
 * The words of the narrow action: its token is in the environment of the step, and of every other input that it does
 * not take the text says who can set it.
 */
export const NARROW_WORDING: Wording = (text) => {
  const worded = text
    .replaceAll(", or leave it out for the job's own ${{ github.token }}", '')
    .replace(/`token: ([^`]+)`/g, "`env: { GITHUB_TOKEN: '$1' }`")
    .replace(/(\binput )?`token:?`/g, '`GITHUB_TOKEN` in the `env:` of the step');
  const named = [...worded.matchAll(INPUT)].map(([, name, bare]) => name ?? bare ?? '');
  const others = [...new Set(named)].filter((name) => !NARROW_INPUTS.includes(name));
  if (others.length === 0) return worded;
  const list = others.map((name) => `\`${name}\``).join(', ');
  return `${worded} (this action takes \`name\`, \`content\` and \`marker\` alone; a step that uses the whole action can set ${list})`;
};
