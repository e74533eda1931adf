import { describe, expect, test } from '@jest/globals';
import { rules as preset } from '@secretlint/secretlint-rule-preset-recommend';
import { findPresetMatches } from '../../../src/rules/secrets/preset-rules.ts';
import { nameSecret, RULE_KEYWORDS, selectRules } from '../../../src/rules/secrets/rule-keywords.ts';
import { PRESET_SECRETS } from './fake-secrets.ts';

const ALL_RULES = new Set(Object.keys(RULE_KEYWORDS));

test('RULE_KEYWORDS has keywords, and the tests a secret, for every preset rule that is run', () => {
  const replaced = ['gcp', 'privatekey', 'basicauth', 'filter-comments'];
  const names = preset.map(({ meta }) => meta.id.split('-rule-')[1] as string);
  const tried = new Set<string>(PRESET_SECRETS.map(([rule]) => rule));
  expect(names.filter((name) => !ALL_RULES.has(name))).toEqual(replaced);
  expect(names.filter((name) => !tried.has(name))).toEqual(replaced);
});

describe('selectRules', () => {
  /** The rules that find a secret without any selection. */
  async function listFindingRules(text: string): Promise<string[]> {
    return (await findPresetMatches(text, ALL_RULES)).map(({ rule }) => rule);
  }

  test.each(PRESET_SECRETS)(
    'selects every rule that finds something, with any part of the secret cut off: %s (%#)',
    async (_rule, before, secret) => {
      const text = before + secret;
      const variants = [text, `${text}"`, text.toLowerCase(), text.toUpperCase()];
      for (let cut = 1; cut < text.length; cut += 1) variants.push(text.slice(cut), text.slice(0, -cut));
      for (const variant of variants) {
        const selected = selectRules(Buffer.from(variant));
        expect((await listFindingRules(variant)).filter((rule) => !selected.has(rule))).toEqual([]);
      }
      expect([...(await listFindingRules(text)), ...(await listFindingRules(`${text}"`))]).not.toEqual([]);
    },
  );

  test.each([
    'mongodb+srv://app:Zx81Zx81@db.acme.io',
    'MySqlX://app:Zx81Zx81@db.acme.io',
    'postgresql://app:Zx81Zx81@db.acme.io',
    'POSTGRES://app:Zx81Zx81@db.acme.io',
  ])('selects the database rule for %s', async (text) => {
    expect(await listFindingRules(text)).toEqual(['database-connection-string']);
    expect(selectRules(Buffer.from(text))).toContain('database-connection-string');
  });
});

test('selectRules requires a second text for a rule with frequent keywords', () => {
  const url = 'https://bob:hunter2';
  expect([...selectRules(Buffer.from(url))]).toEqual([]);
  expect([...selectRules(Buffer.from(`${url}@acme.io`))]).toEqual(['url-password']);
});

test.each([
  ['github', 'GitHub token'],
  ['slack', 'Slack token'],
  ['private-key', 'private key'],
])('nameSecret names what the rule %s finds: %s', (rule, name) => {
  expect(nameSecret(rule)).toBe(name);
});
