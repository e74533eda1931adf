import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';
import { describe, expect, test } from '@jest/globals';
import { FLAGS } from '../../src/request/commands.ts';
import { INPUTS, type InputName } from '../../src/request/inputs.ts';
import { createWording, type InterfaceName } from '../../src/request/wording.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Only the action shows the texts of these: its comment, and the descriptions of its inputs. */
const OF_ACTION = /^(?:action\/|request\/(?:inputs|wording)\.ts$)/;
const OF_COMMENT = /`comment: false`/;

/** Every text of the sources, with `X` for each value that is filled in. */
function listTexts(): string[] {
  const files = globSync('**/*.ts', { cwd: SRC }).filter(
    (name) => !/\.d\.ts$/.test(name) && !OF_ACTION.test(name),
  );
  return files.flatMap((name) => {
    const texts: string[] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { type, value, quasis } = node as { type?: string; value?: string; quasis?: readonly unknown[] };
      if (type === 'StringLiteral' && value !== undefined) texts.push(value);
      if (type === 'TemplateLiteral' && quasis !== undefined) {
        texts.push(quasis.map((one) => (one as { value: { cooked: string } }).value.cooked).join('X'));
      }
      for (const inner of Object.values(node)) visit(inner);
    };
    visit(
      parse(readFileSync(join(SRC, name), 'utf8'), { sourceType: 'module', plugins: ['typescript'] }).program,
    );
    return texts;
  });
}

const TEXTS = [...new Set(listTexts())].filter((text) => / /.test(text) && !OF_COMMENT.test(text));
const YAML = new RegExp(`\`(?:${Object.keys(INPUTS).join('|')}):`);
const OF_WORKFLOW =
  /permissions: \{|\$\{\{|\b(?:the|this|an earlier) step (?:again|that|before)\b|\bthe workspace\b|this job\b/;

describe.each<InterfaceName>(['cli', 'mcp'])('every message and hint of the sources, for %s', (face) => {
  const word = createWording(face);
  const hints = TEXTS.filter((text) => word(text) !== text);

  test('is found: a good hundred of them name an input, a channel or a step', () => {
    expect(hints.length).toBeGreaterThan(120);
  });

  test('has no word of a workflow', () => {
    expect(TEXTS.map(word).filter((text) => OF_WORKFLOW.test(text))).toEqual([]);
  });

  test('names inputs as the interface does', () => {
    const isYaml = face === 'cli' ? YAML : new RegExp(`${YAML.source}(?! (?:true|false|"))`);
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
      'use a token with the permissions `pages: read`, or use `channel: "K3"`',
    ],
    ...[
      'check `runs-on:` and `concurrency:`',
      "set `base: './'` in vite.config",
      'HTTP 403: You may not perform this action',
      'run `git lfs pull` before',
    ].map((text): [string, string, string] => [text, text, text]),
  ])('renders %j', (text, cli, mcp) => {
    expect([createWording('cli')(text), createWording('mcp')(text)]).toEqual([cli, mcp]);
    expect(createWording('action')(text)).toBe(text);
  });

  test.each(Object.keys(INPUTS) as InputName[])('knows the input %s', (name) => {
    for (const face of ['cli', 'mcp'] as const) {
      expect(createWording(face)(`set \`${name}: a b\` or \`${name}:\``)).not.toMatch(
        YAML.source.replace(':', ': a'),
      );
    }
  });
});
