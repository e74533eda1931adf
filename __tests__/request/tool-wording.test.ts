import { describe, expect, test } from '@jest/globals';
import { listInputs } from '../../src/mcp/arguments.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { FLAGS } from '../../src/request/commands.ts';
import { INPUTS, type InputName, jsonTypeOf, type ToolName } from '../../src/request/inputs.ts';
import { createToolWording } from '../../src/request/tool-wording.ts';
import { listTexts } from './source-texts.ts';

/** Texts that no answer of a tool has. */
const NO_ANSWER =
  /^(?:action\/|cli\/|mcp\/(?:server|tools|tool-answer)\.ts$|protocol\/(?:contract|error-codes)\.ts$|request\/(?:inputs|commands|confinement|tool-contract|(?:tool-)?wording)\.ts$)/;
const TEXTS = listTexts((file) => NO_ANSWER.test(file));
const DESCRIPTIONS = Object.values(INPUTS).map(({ description }) => description);

const NAME = Object.keys(INPUTS).join('|');
const ARGUMENT = new RegExp(`^(${NAME})(?:: (.*))?$`, 's');
const SETTINGS = / \(only the person who configured this server can set (.*)\)$/s;

/** What is wrong with the names in a text that is shown to the caller of a tool. */
function findWrongNames(worded: string, args: readonly InputName[]): string[] {
  const [whole = '', settings = ''] = SETTINGS.exec(worded) ?? [];
  const text = worded.slice(0, worded.length - whole.length);
  return [...text.matchAll(/`([^`]*)`/g)].flatMap(([, marked = '']) => {
    const [, name = '', value] = ARGUMENT.exec(marked) ?? [];
    if (name !== '') return isArgument(name as InputName, value, args) ? [] : [marked];
    const flag = FLAGS.find((one) => new RegExp(`^--${one}\\b(?!-)`).test(marked));
    if (flag !== undefined) return !args.includes(flag) && settings.includes(`\`--${flag}\``) ? [] : [marked];
    return marked === 'GITHUB_TOKEN' && !settings.includes('`GITHUB_TOKEN`') ? [marked] : [];
  });
}

function isArgument(name: InputName, value: string | undefined, args: readonly InputName[]): boolean {
  if (!args.includes(name)) return false;
  return value === undefined || typeof JSON.parse(value) === jsonTypeOf(name) || /X/.test(value);
}

describe.each<[string, ToolName, Partial<Record<InputName, string>>]>([
  ...(Object.keys(TOOLS) as ToolName[]).map((tool): [string, ToolName, object] => [tool, tool, {}]),
  ['deliver, with fixed inputs', 'deliver', { repository: 'octo/site', channel: 'K1', path: 'agent/' }],
  ['withdraw, with fixed inputs', 'withdraw', { branch: 'main', timeout: '30' }],
])('every message and hint, for the tool %s', (_, tool, fixed) => {
  const args = listInputs(tool, fixed);
  const word = createToolWording(args);

  test('names only its arguments, or what the person who configured the server sets', () => {
    const wrong = [...TEXTS, ...DESCRIPTIONS]
      .map(word)
      .filter((text) => findWrongNames(text, args).length > 0);
    expect(wrong).toEqual([]);
  });

  test('has no channel without marks, and no token that is no setting', () => {
    const bare = /\bchannel: K|\bgive a token|\buse a(?:nother)? token|GITHUB_TOKEN/;
    const texts = TEXTS.map((text) => word(text.replace('use channel: X', 'use channel: K2')));
    const rest = texts.map((text) => text.replace(SETTINGS, '').replace(/`[^`]*`/g, '``'));
    expect(rest.filter((text) => bare.test(text))).toEqual([]);
  });
});

describe('createToolWording', () => {
  const wordFor = (tool: ToolName, fixed = {}) => createToolWording(listInputs(tool, fixed));
  const BOTH = 'set `path:` to another place, or `overwrite: true` if you may replace that file';
  const ONLY = 'only the person who configured this server can set';

  test.each<[ToolName, string, string]>([
    ['deliver', BOTH, 'set `path` to another place, or `overwrite: true` if you may replace that file'],
    [
      'withdraw',
      BOTH,
      `set \`path\` to another place, or \`--overwrite\` if you may replace that file (${ONLY} \`--overwrite\` among its flags)`,
    ],
    ['deliver', 'set `timeout: 240`', 'set `timeout: 240`'],
    ['deliver', 'set `keep: 20`, or leave it out', 'set `keep: 20`, or leave it out'],
    ['deliver', 'set `tag: 20`', 'set `tag: "20"`'],
    [
      'deliver',
      'set `setup: true` to create it',
      `set \`--setup\` to create it (${ONLY} \`--setup\` among its flags)`,
    ],
    [
      'deliver',
      'set `token:` to one that may bypass the rule',
      `set \`GITHUB_TOKEN\` to one that may bypass the rule (${ONLY} \`GITHUB_TOKEN\` in its environment)`,
    ],
    [
      'deliver',
      'set `file:` to the file, `content:` to a text, or `url:` to a link',
      'set `file` to the file, `content` to a text, or use the tool verify for a link',
    ],
    ['verify', 'check it, or use channel: K1, K2 or K3', 'check it, or use the tool deliver'],
    ['verify', 'set `marker:` to a text', 'set `marker` to a text'],
    ['check', 'set `screen: auto`', `set \`--screen auto\` (${ONLY} \`--screen\` among its flags)`],
  ])('%s: %j', (tool, text, expected) => {
    expect(wordFor(tool)(text)).toBe(expected);
  });

  test('names what the server has fixed as its flag', () => {
    expect(wordFor('deliver', { branch: 'main' })('set `branch: gh-pages`')).toBe(
      `set \`--branch gh-pages\` (${ONLY} \`--branch\` among its flags)`,
    );
  });
});
