import { machineContract } from '../protocol/contract.ts';
import { ERROR_CODES } from '../protocol/error-codes.ts';
import { TOOL } from '../protocol/words.ts';
import { ALL_FLAGS, CLI_COMMANDS, EXIT_CODES, flagsOf, formatFlagTerm, shownDefault } from './commands.ts';

/** What to do with an answer. */
export const ANSWER_RULE =
  'Give the human `url` if it is not empty, else `reason` and `hint`. Never give an address that is not in `url`.';

/** The fields that an agent needs first; all of them are in the schema. */
const OUTPUT_FIELDS = {
  result:
    '`ready` (proven), `withdrawn`, `planned` (a dry run or a check: nothing was written) or `not-ready`',
  url: 'the proven https address, one line for each file; empty unless `result` is `ready`',
  reason: 'why there is no address; empty if `result` is `ready`',
  hint: 'what to change',
  code: 'one of `error_codes`, or null',
  reports:
    'one for each file or folder, with `lines` (CLAIM, CODE, TEST, RESULT, UNKNOWN), `gates`, `unknown` (what was not verified) and `notes`',
} as const;

/** The machine contract, and how to call this tool: the content of `contract.json`. @see protocol 2.1 */
export function toolContract() {
  const commands = Object.entries(CLI_COMMANDS).map(([name, { usage, description }]) => [
    `${name} ${usage}`.trim(),
    description,
  ]);
  const flags = Object.entries(ALL_FLAGS).map(([name, { description }]) => {
    const usual = shownDefault(name);
    return [formatFlagTerm(name), `${description}${usual === '' ? '' : ` Default: ${usual}.`}`];
  });
  return {
    ...machineContract(),
    tool: {
      name: TOOL.name,
      version: TOOL.version,
      call: `npx ${TOOL.name} <command> --json`,
      first: `npx ${TOOL.name} deliver page.html --marker "a text of the page" --json`,
      commands: Object.fromEntries(commands) as Record<string, string>,
      verify_flags: flagsOf('verify').map((name) => `--${name}`),
      flags: Object.fromEntries(flags) as Record<string, string>,
      token: 'Set GITHUB_TOKEN in the environment, and --repository. Never put a token on the command line.',
      exit_codes: EXIT_CODES,
      answer: {
        schema: 'report.schema.json',
        rule: ANSWER_RULE,
        streams: 'stdout has the answer alone; the log, and a code that a human must enter, are on stderr',
        fields: OUTPUT_FIELDS,
      },
      error_codes: ERROR_CODES,
    },
  };
}
