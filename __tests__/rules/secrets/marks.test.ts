import { describe, expect, test } from '@jest/globals';
import { rules as preset } from '@secretlint/secretlint-rule-preset-recommend';
import { MARKS, markedRules } from '../../../src/rules/secrets/marks.ts';
import { loadPreset } from '../../../src/rules/secrets/preset-secret-rules.ts';
import { googleAccount, PRESET_SECRETS } from './fake-secrets.ts';

const ALL = new Set(Object.keys(MARKS));

describe('the marks', () => {
  test('are known of every rule of the preset that is run', () => {
    const replaced = ['privatekey', 'basicauth', 'filter-comments'];
    const names = preset.map(({ meta }) => meta.id.split('-rule-')[1] as string);
    expect(names.filter((name) => !ALL.has(name))).toEqual(replaced);
  });

  test('are four ASCII characters each, and no NUL', () => {
    const marks = Object.values(MARKS).flat();
    expect(marks.filter((mark) => !/^[ -~]{4}$/.test(mark))).toEqual([]);
  });
});

describe('a rule that finds something', () => {
  /** What the rules see, asked about everything. */
  async function seeing(text: string): Promise<string[]> {
    const search = await loadPreset('.json');
    return (await search(text, ALL)).map(({ rule }) => rule);
  }

  test.each([...PRESET_SECRETS, ['gcp', '', googleAccount()] as const])(
    'has left a mark, however the secret is spelt and whatever is cut off: %s (%#)',
    async (_rule, before, secret) => {
      const text = before + secret;
      const variants = [text, `${text}"`, text.toLowerCase(), text.toUpperCase()];
      for (let cut = 1; cut < text.length; cut += 1) variants.push(text.slice(cut), text.slice(0, -cut));
      for (const variant of variants) {
        const marked = markedRules(Buffer.from(variant));
        expect((await seeing(variant)).filter((rule) => !marked.has(rule))).toEqual([]);
      }
      expect([...(await seeing(text)), ...(await seeing(`${text}"`))]).not.toEqual([]);
    },
  );

  test.each([
    'mongodb+srv://app:Zx81Zx81@db.acme.io',
    'MONGODB://app:Zx81Zx81@db.acme.io',
    'MySqlX://app:Zx81Zx81@db.acme.io',
    'mysql://app:Zx81Zx81@db.acme.io',
    'postgresql://app:Zx81Zx81@db.acme.io',
    'POSTGRES://app:Zx81Zx81@db.acme.io',
  ])('has left a mark in %s', async (text) => {
    expect(await seeing(text)).toEqual(['database-connection-string']);
    expect(markedRules(Buffer.from(text))).toContain('database-connection-string');
  });
});

test('a rule whose marks are common needs its companion as well', () => {
  const url = 'https://bob:hunter2';
  expect([...markedRules(Buffer.from(url))]).toEqual([]);
  expect([...markedRules(Buffer.from(`${url}@acme.io`))]).toEqual(['url-password']);
});
