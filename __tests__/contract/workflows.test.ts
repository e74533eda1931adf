import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { validateAction } from '@action-validator/core';
import { NoOperationTraceWriter } from '@actions/workflow-parser';
import { parseAction } from '@actions/workflow-parser/actions/action-parser';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { listBrokenRules, listWorkflowErrors } from '../support/workflow-rules.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const found = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).sort();

const OWN = found('.github/workflows/*.{yml,yaml}');
const EXAMPLES = found('examples/**/*.{yml,yaml}');

describe('the examples', () => {
  test('are explained in the recipes, each by a link', () => {
    const linked = read('docs/recipes.md').match(/(?<=\]\(\.\.\/)examples\/[\w-]+\.yml(?=\))/g) ?? [];
    expect([...new Set(linked)].sort()).toEqual(EXAMPLES);
  });

  test('pin the commits that the project itself uses', () => {
    const pinsIn = (path: string) => read(path).match(/[\w./-]+@[0-9a-f]{40} # v\S+/g) ?? [];
    const others = [
      'softprops/action-gh-release@b4309332981a82ec1c5618f44dd2e27cc8bfbfda # v3.0.0',
      'actions/upload-pages-artifact@56afc609e74202658d3ffba0e8f6dda462b719fa # v3.0.1',
      'actions/deploy-pages@d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e # v4.0.5',
      'nwtgck/actions-netlify@4cbaf4c08f1a7bfa537d6113472ef4424e4eb654 # v3.0.0',
      'cloudflare/wrangler-action@da0e0dfe58b7a431659754fdf3f186c529afbe65 # v3.14.1',
    ];
    const known = [...OWN.flatMap(pinsIn), ...others];
    expect(EXAMPLES.flatMap(pinsIn).filter((pin) => !known.includes(pin))).toEqual([]);
  });
});

describe('the workflows of the project', () => {
  test('are the ones that the project needs', () => {
    expect(OWN.map((path) => path.replace(/.*[/\\]|\.yml$/g, ''))).toEqual([
      'check-dist',
      'ci',
      'codeql',
      'e2e',
      'release',
    ]);
  });

  test.each([...OWN, ...EXAMPLES])('are valid for GitHub: %s', async (path) => {
    await expect(listWorkflowErrors(read(path))).resolves.toEqual([]);
  });

  test('in the documents are valid for GitHub', async () => {
    const text = ['README.md', ...found('docs/*.md')].map(read).join('\n');
    const shown = text.match(/(?<=```yaml\n)[\s\S]*?(?=```)/g) ?? [];
    const whole = shown.filter((text) => /^jobs:/m.test(text));
    expect(whole).not.toEqual([]);
    for (const text of whole) await expect(listWorkflowErrors(text)).resolves.toEqual([]);
    // The documents omit default permissions and commits, to be short.
    const broken = whole.flatMap((text) => listBrokenRules(text, 'example'));
    expect(broken.filter((rule) => !/^(says its permissions|pins each action)/.test(rule))).toEqual([]);
  });

  test.each(OWN)('follow the rules of the project: %s', (path) => {
    expect(listBrokenRules(read(path), 'own')).toEqual([]);
  });

  // Without examples, the tests below would check nothing.
  for (const path of EXAMPLES) {
    test(`are safe to copy: ${path}`, () => {
      expect(listBrokenRules(read(path), 'example')).toEqual([]);
    });
  }

  test('use one commit for each action', () => {
    const pins = OWN.flatMap((path) => read(path).match(/[\w./-]+@[0-9a-f]{40} # \S+/g) ?? []);
    const actions = new Set(pins.map((pin) => pin.replace(/@.*/, '')));
    expect(pins).not.toEqual([]);
    expect([...new Set(pins)]).toHaveLength(actions.size);
  });
});

test('the release publishes the npm package without a token, with provenance, after the same checks', () => {
  const release = read('.github/workflows/release.yml');
  const { npm, attest } = parse(release).jobs;
  expect(npm).toMatchObject({ needs: 'attest', permissions: { 'id-token': 'write' } });
  expect(Object.keys(npm.permissions)).toEqual(['id-token']);
  expect(attest.needs).toEqual(['check', 'build']);
  // The job that npm trusts runs no code of the project or of a dependency, and stores no token.
  const used = npm.steps.flatMap(({ uses = '' }) => uses.replace(/@.*/, '') || []);
  expect(used).toEqual(['actions/download-artifact', 'actions/setup-node']);
  const scripts = npm.steps.flatMap(({ run = '' }) => run || []).join('\n');
  expect(scripts).toMatch(/npm publish \.\/screen-delivery-\*\.tgz .*--provenance/);
  expect(scripts).toContain('--ignore-scripts');
  expect(release).not.toMatch(/secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN/);
});

const SHA = '0123456789abcdef0123456789abcdef01234567';

const SOUND = `
on: push
permissions: {}
concurrency: one
jobs:
  deliver:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: write
    steps:
      - uses: actions/checkout@${SHA} # v1.2.3
        with:
          persist-credentials: false
      - id: page
        uses: ./
        with:
          file: page.html
      - run: echo "$URL"
        env:
          URL: \${{ steps.page.outputs.url }}
`;

const RUN = 'run: echo "$URL"';

describe('the workflow rules', () => {
  test('accept a correct workflow', async () => {
    await expect(listWorkflowErrors(SOUND)).resolves.toEqual([]);
    expect(listBrokenRules(SOUND, 'own')).toEqual([]);
  });

  test.each([
    ['an unknown permission', 'contents: write', 'content: write', /Unexpected value 'content'/],
    ['an unknown context', 'steps.page', 'stebs.page', /Unrecognized named-value: 'stebs'/],
    ['a missing workflow', /runs-on[\s\S]*/, 'uses: ./.github/workflows/x.yml', /Unable to find/],
    ['no content', SOUND, '', /Expected a .*mapping/],
  ])('refuse an invalid workflow: with %s', async (_, part, instead, fault) => {
    const broken = SOUND.replace(part, instead);
    expect(broken).not.toBe(SOUND);
    expect((await listWorkflowErrors(broken)).join('\n')).toMatch(fault);
  });

  test.each([
    ['sets no permissions', 'permissions: {}\n', '', 'says its permissions: the workflow'],
    ['has a job without a timeout', 'timeout-minutes: 5', 'name: x', 'bounds each job: deliver'],
    ['uses a tag', `@${SHA} # v1.2.3`, '@v1', 'pins each action by its commit: actions/checkout@v1'],
    ['pins a moving tag', '# v1.2.3', '# v1', /^says the version beside each commit/],
    [
      'puts a title into a script',
      RUN,
      'run: echo ${{ github.event.issue.title }}',
      /^puts no stranger’s text/,
    ],
    ['misspells an input', 'file: page.html', 'flie: page.html', 'inputs that it has: flie'],
    ['misspells an output', 'outputs.url', 'outputs.uri', 'takes outputs that this action has: uri'],
  ])('refuse an example that %s', (_, part, instead, rule) => {
    const broken = SOUND.replace(part, instead);
    expect(listBrokenRules(broken, 'example')).toEqual([expect.stringMatching(rule)]);
  });

  test('accept this action by its moving tag', () => {
    expect(listBrokenRules(SOUND.replace('uses: ./', 'uses: OWNER/screen-delivery@v1'), 'example')).toEqual(
      [],
    );
  });

  test.each([
    [
      'grants a permission to all jobs',
      'permissions: {}',
      'permissions: read-all',
      'grants nothing by default',
    ],
    ['has a job without permissions', /permissions:\n\s+contents: write/, 'name: x', /^grants to each job/],
    ['may run twice at once', 'concurrency: one\n', '', 'says what may run at once: the workflow'],
    [
      'puts an output into a script',
      RUN,
      'run: echo "${{ steps.page.outputs.url }}"',
      /^keeps expressions out of scripts/,
    ],
    ['stores the token', 'persist-credentials: false', 'fetch-depth: 1', /^leaves no token in the checkout/],
  ])('refuse a workflow of the project that %s', (_, part, instead, rule) => {
    const broken = SOUND.replace(part, instead);
    expect(listBrokenRules(broken, 'example')).toEqual([]);
    expect(listBrokenRules(broken, 'own')).toEqual([expect.stringMatching(rule)]);
  });
});

describe('action.yml', () => {
  const content = read('action.yml');

  test('is valid for GitHub', () => {
    const faults = (text: string): string[] => {
      const { context } = parseAction({ name: 'action.yml', content: text }, new NoOperationTraceWriter());
      return context.errors.getErrors().map(({ message }) => message);
    };
    expect(faults(content)).toEqual([]);
    expect(faults(content.replace('node24', 'node25'))).toEqual([expect.stringContaining("'node25'")]);
  });

  // The schema is older than Node 24; GitHub's parser checks the runtime above.
  test('matches the published schema, except for its runtime', () => {
    const faults = (text: string) => validateAction(text.replace('using: node24', 'using: node20')).errors;
    expect(faults(content)).toEqual([]);
    expect(faults(content.replace('description:', 'describtion:'))).not.toEqual([]);
  });
});
