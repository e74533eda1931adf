import { rules as presetRules } from '@secretlint/secretlint-rule-preset-recommend';
import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from '@secretlint/types';
import { isPlaceholder, type SecretMatch } from './custom-rules.ts';

const RULE_PREFIX = '@secretlint/secretlint-rule-';

const EXCLUDED_RULES: ReadonlySet<string> = new Set([
  // It lets a comment in the file disable the search.
  'filter-comments',
  // The custom rule `private-key` finds the same, and PGP, encrypted and short keys as well.
  'privatekey',
  'gcp',
  // The custom rule `url-password` finds the same in any scheme, and knows reserved hosts and placeholders.
  'basicauth',
]);

/** The fields in which rules return the secret: their ranges may not cover it exactly. */
const SECRET_FIELDS = ['KEY', 'TOKEN', 'ID', 'URI', 'URL', 'CREDENTIAL'] as const;

const CREATORS = (presetRules as SecretLintRuleCreator[])
  .map((creator) => ({ creator, rule: creator.meta.id.replace(RULE_PREFIX, '') }))
  .filter(({ rule }) => !EXCLUDED_RULES.has(rule));

/** Runs the preset of secretlint, but not `@secretlint/core`, which puts each secret into a message. */
export async function findPresetMatches(
  text: string,
  rules: ReadonlySet<string>,
): Promise<readonly SecretMatch[]> {
  const matches: SecretMatch[] = [];
  for (const { creator, rule } of CREATORS.filter((candidate) => rules.has(candidate.rule))) {
    const report: SecretLintRuleContext['report'] = ({ message, range: [from, to] }) => {
      const secret = getSecret(message.data) ?? text.slice(from, to);
      if (!isPlaceholder(secret)) matches.push({ rule, secret, from, at: text.indexOf(secret, from) });
    };
    const context = { sharedOptions: {}, createTranslator, report, ignore: () => undefined };
    // Without a path, no rule opens a file or skips it because of its name.
    const source = { content: text, filePath: '', ext: '.txt', contentType: 'text' } as SecretLintSourceCode;
    await creator.create(context, {}).file?.(source);
  }
  return matches;
}

/** Passes on the data of a finding without a message. The cast is needed because the type requires messages. */
const createTranslator = (() => (messageId: string, data: unknown) => ({
  message: '',
  messageId,
  data,
})) as unknown as SecretLintRuleContext['createTranslator'];

function getSecret(data: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const field = SECRET_FIELDS.find((name) => typeof data?.[name] === 'string');
  return field === undefined ? undefined : (data?.[field] as string);
}
