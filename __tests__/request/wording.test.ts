import { describe, expect, test } from '@jest/globals';
import { FLAGS } from '../../src/request/commands.ts';
import { INPUTS, type InputName } from '../../src/request/inputs.ts';
import { createToolWording } from '../../src/request/tool-wording.ts';
import { createWording, type Wording } from '../../src/request/wording.ts';
import { listTexts } from './source-texts.ts';

/** Only the action shows the texts of these: its comment, and the descriptions of its inputs. */
const OF_ACTION = /^(?:action\/|request\/(?:inputs|wording)\.ts$)/;
const OF_COMMENT = /`comment: false`/;

const TEXTS = listTexts((file) => OF_ACTION.test(file)).filter((text) => !OF_COMMENT.test(text));
const YAML = new RegExp(`\`(?:${Object.keys(INPUTS).join('|')}):`);
const OF_WORKFLOW =
  /permissions: \{|\$\{\{|\b(?:the|this|an earlier) step (?:again|that|before)\b|\bthe workspace\b|this job\b/;

/** The words of a tool that takes every input, but for the token. */
const wordForTool = createToolWording(
  (Object.keys(INPUTS) as InputName[]).filter((name) => name !== 'token'),
);
const WORDINGS: readonly [string, Wording][] = [
  ['cli', createWording('cli')],
  ['mcp', wordForTool],
];

describe.each(WORDINGS)('every message and hint of the sources, for %s', (face, word) => {
  const hints = TEXTS.filter((text) => word(text) !== text);

  test('is found: a good hundred of them name an input, a channel or a step', () => {
    expect(hints.length).toBeGreaterThan(120);
  });

  test('has no word of a workflow', () => {
    expect(TEXTS.map(word).filter((text) => OF_WORKFLOW.test(text))).toEqual([]);
  });

  test('names inputs as the interface does', () => {
    const isYaml = face === 'cli' ? YAML : new RegExp(`${YAML.source}(?! (?:true|false|\\d|"))`);
    const isBare = /(?<!`)\bchannel: K\d/;
    expect(TEXTS.map(word).filter((text) => isYaml.test(text) || isBare.test(text))).toEqual([]);
  });
});

test('the command line names no flag that it does not have', () => {
  const word = createWording('cli');
  const named = TEXTS.flatMap((text) => [...word(text).matchAll(/`--([a-z-]+)/g)].map(([, name]) => name));
  const known: readonly (string | undefined)[] = [
    ...FLAGS,
    'operation',
    'confine',
    'help',
    'prefix-paths',
    'root',
    'json',
    'marker',
  ];
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
});

describe('createWording', () => {
  test.each<[string, string, string]>([
    [
      'input `channel` names an unknown channel: K5',
      '`--channel` names an unknown channel: K5',
      'argument `channel` names an unknown channel: K5',
    ],
    ['set `path:` to a folder', 'set `--path` to a folder', 'set `path` to a folder'],
    ['set `path: a/`', 'set `--path a/`', 'set `path: "a/"`'],
    ["set `message: it's`", "set `--message 'it'\\''s'`", 'set `message: "it\'s"`'],
    ['set `overwrite: true`', 'set `--overwrite`', 'set `overwrite: true`'],
    [
      'set `prune: true` or `prune: false`',
      'set `--prune true` or `--prune false`',
      'set `prune: true` or `prune: false`',
    ],
    ['input `bin` is wrong', '`--bin` is wrong', 'argument `bin` is wrong'],
    [
      'input `marker` is a part of `url`',
      '`--marker` is a part of `--url`',
      'argument `marker` is a part of `url`',
    ],
    ['use channel: K1, K2 or K3', 'use `--channel K1`, K2 or K3', 'use `channel: "K1"`, K2 or K3'],
    ['set `file: dist/*`', 'set `dist/*`', 'set `file: "dist/*"`'],
    ['input `token` is too short', 'the token is too short', 'the token is too short'],
    ['run the step again', 'run the command again', 'call the tool again'],
    [
      'add `permissions: { pages: read }` to the job; a pull request from a fork gets a read-only token: use channel: K3 there',
      'use a token with the permissions `pages: read`, or use `--channel K3`',
      'set `GITHUB_TOKEN` to a token with the permissions `pages: read`, or use `channel: "K3"` (only the person who configured this server can set `GITHUB_TOKEN` in its environment)',
    ],
    ...[
      'check `runs-on:` and `concurrency:`',
      "set `base: './'` in vite.config",
      'HTTP 403: You may not perform this action',
      'run `git lfs pull` before',
    ].map((text): [string, string, string] => [text, text, text]),
  ])('renders %j', (text, cli, mcp) => {
    expect([createWording('cli')(text), wordForTool(text)]).toEqual([cli, mcp]);
    expect(createWording('action')(text)).toBe(text);
  });

  test.each(Object.keys(INPUTS) as InputName[])('knows the input %s', (name) => {
    for (const [, word] of WORDINGS) {
      expect(word(`set \`${name}: a b\` or \`${name}:\``)).not.toMatch(YAML.source.replace(':', ': a'));
    }
  });
});
