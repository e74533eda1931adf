import { INPUTS } from '../request/inputs.ts';
import type { Wording } from '../request/wording.ts';

/** The inputs of the narrow action, in `agent/`. */
export const NARROW_INPUTS: readonly string[] = ['name', 'content', 'marker'];

const NAMES = Object.keys(INPUTS).join('|');
const INPUT = new RegExp(`\`(${NAMES})(?::[^\`]*)?\`|\\buse (channel): K`, 'g');

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
