import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from '@secretlint/types';
import type { SecretMatch } from './custom-rules.ts';
import { hasLongRepetition } from './custom-rules.ts';

const RULE_PREFIX = '@secretlint/secretlint-rule-';

/** Rules of the preset that are not run. */
const EXCLUDED_RULES: ReadonlySet<string> = new Set([
  // It lets a comment in the file turn the search off.
  'filter-comments',
  // The custom rule `private-key` finds the same, and PGP, encrypted and short keys as well.
  'privatekey',
  // The custom rule `url-password` finds the same in any scheme, and knows reserved hosts and placeholders.
  'basicauth',
]);

/** The field in which a rule returns the secret. The range that it reports may begin before and end inside it. */
const SECRET_FIELDS = ['KEY', 'TOKEN', 'ID', 'URI', 'URL', 'CREDENTIAL'] as const;

/** Runs the rules of the preset with these names on a text. */
export type FindPresetMatches = (text: string, rules: ReadonlySet<string>) => Promise<SecretMatch[]>;

/**
 * Loads the recommended preset of secretlint when it is first needed.
 *
 * The rules are called directly. `@secretlint/core` adds an entry to the performance timeline of Node for
 * every rule and block and never removes it, so memory would grow with the file; it also puts each secret
 * into a message.
 *
 * @param extension the lowercase file name ending with its dot; only `.json` makes a difference
 */
export async function loadPresetRules(extension: string): Promise<FindPresetMatches> {
  // The import keeps its name: the sources, `lib/` and `dist/` each load their own.
  const preset = await import(/* webpackIgnore: true */ './secret-preset.ts');
  const creators = (preset.rules as SecretLintRuleCreator[]).filter(
    ({ meta }) => !EXCLUDED_RULES.has(getRuleName(meta)),
  );
  let text = '';
  let matches: SecretMatch[] = [];
  const handlers = creators.map((creator) => {
    const report: SecretLintRuleContext['report'] = ({ message, range: [from, to] }) => {
      const secret = getSecret(message.data);
      if (secret !== undefined && hasLongRepetition(secret)) return;
      const at = secret === undefined ? from : text.indexOf(secret, from);
      matches.push({ rule: getRuleName(creator.meta), secret: secret ?? text.slice(from, to), from, at });
    };
    const context = { sharedOptions: {}, createTranslator, report, ignore: () => undefined };
    return { name: getRuleName(creator.meta), handler: creator.create(context, {}) };
  });
  return async (content, rules) => {
    text = content;
    matches = [];
    // Without a path, no rule opens a file or skips it because of its name.
    const source = { content, filePath: '', ext: extension === '.json' ? extension : '.txt' };
    for (const { name, handler } of handlers) {
      if (!rules.has(name)) continue;
      await handler.file?.({ ...source, contentType: 'text' } as SecretLintSourceCode);
    }
    return matches;
  };
}

const getRuleName = ({ id }: { readonly id: string }): string => id.replace(RULE_PREFIX, '');

/** Passes on the data of a finding without writing a message; the type demands the messages of each rule. */
const createTranslator = (() => (messageId: string, data: unknown) => ({
  message: '',
  messageId,
  data,
})) as unknown as SecretLintRuleContext['createTranslator'];

function getSecret(data: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const field = SECRET_FIELDS.find((name) => typeof data?.[name] === 'string');
  return field === undefined ? undefined : (data?.[field] as string);
}
