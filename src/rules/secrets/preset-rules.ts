import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from '@secretlint/types';
import { isPlaceholder, type SecretMatch } from './custom-rules.ts';

const RULE_PREFIX = '@secretlint/secretlint-rule-';

/** The fields in which rules return the secret: their ranges may not cover it exactly. */
const SECRET_FIELDS = ['KEY', 'TOKEN', 'ID', 'URI', 'URL', 'CREDENTIAL'] as const;

/**
 * Runs the preset of secretlint, but not `@secretlint/core`, which puts each secret into a message. No name of ours is
 * `filter-comments`, with which a comment disables the search, or that of a rule that `custom-rules.ts` replaces.
 */
export async function findPresetMatches(
  text: string,
  rules: ReadonlySet<string>,
): Promise<readonly SecretMatch[]> {
  // It takes 15 ms to load. `eager` keeps the bundle in one file.
  const preset = await import(/* webpackMode: "eager" */ '@secretlint/secretlint-rule-preset-recommend');
  const matches: SecretMatch[] = [];
  for (const creator of preset.rules as SecretLintRuleCreator[]) {
    const rule = creator.meta.id.replace(RULE_PREFIX, '');
    if (!rules.has(rule)) continue;
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
