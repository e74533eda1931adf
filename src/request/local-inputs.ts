import { INPUTS, type InputName, type RawInputs } from './inputs.ts';

/**
 * The inputs where no runner fills them in: those that were given, and the defaults of the others. Defaults that
 * only a runner can evaluate are empty.
 */
export function completeInputs(given: Partial<RawInputs>, env: NodeJS.ProcessEnv): RawInputs {
  const names = Object.keys(INPUTS) as InputName[];
  const defaults = names.map((name) => [name, INPUTS[name].default.replace(/^\$\{\{.*/, '')]);
  return { ...Object.fromEntries(defaults), ...given, ...selectInstance(given, env) };
}

/** The GitHub instance: the one that was given, else the one of the runner (its token is used), else github.com. */
export function selectInstance(
  given: Partial<RawInputs>,
  env: NodeJS.ProcessEnv,
): Pick<RawInputs, 'api-url' | 'auth-url'> {
  return {
    'api-url': given['api-url'] ?? (env.GITHUB_API_URL || 'https://api.github.com'),
    'auth-url': given['auth-url'] ?? (env.GITHUB_SERVER_URL || 'https://github.com'),
  };
}
