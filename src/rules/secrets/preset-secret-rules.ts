import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from '@secretlint/types';
import type { SecretMatch } from './own-secret-rules.ts';
import { isFilledUp } from './placeholders.ts';

const NAME_SPACE = '@secretlint/secretlint-rule-';

/** Rules of the preset that are not run. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  // Lets a comment in the file switch the search off.
  'filter-comments',
  // Our own rule sees what it sees, and PGP, encrypted and short keys as well.
  'privatekey',
  // So does ours for addresses, in any scheme, and knows the documentation's hosts and placeholders.
  'basicauth',
]);

/** Under which name a rule tells what it found; its range may begin before the secret and end within it. */
const SECRET_FIELDS = ['KEY', 'TOKEN', 'ID', 'URI', 'URL', 'CREDENTIAL'] as const;

/** What the preset's rules of these names see in a text. */
export type PresetSearch = (text: string, rules: ReadonlySet<string>) => Promise<SecretMatch[]>;

/**
 * Loads secretlint's recommended preset, on first use only.
 *
 * Its rules are asked directly. `@secretlint/core` would mark every rule of every run in Node's
 * performance timeline and keep the marks, which grows without bound over a large file's windows; it
 * would also put each secret into a message.
 *
 * @param extension the file's ending with its dot, lowercase; only `.json` makes a difference
 */
export async function loadPreset(extension: string): Promise<PresetSearch> {
  // Eager: the bundle stays one file, and the module is still only evaluated here.
  const preset = await import(/* webpackMode: "eager" */ '@secretlint/secretlint-rule-preset-recommend');
  const creators = (preset.rules as SecretLintRuleCreator[]).filter(
    ({ meta }) => !LEFT_OUT.has(nameOf(meta)),
  );
  let text = '';
  let seen: SecretMatch[] = [];
  const handlers = creators.map((creator) => {
    const report: SecretLintRuleContext['report'] = ({ message, range: [from, to] }) => {
      const secret = secretIn(message.data);
      if (secret !== undefined && isFilledUp(secret)) return;
      const at = secret === undefined ? from : text.indexOf(secret, from);
      seen.push({ rule: nameOf(creator.meta), secret: secret ?? text.slice(from, to), from, at });
    };
    const context = { sharedOptions: {}, createTranslator, report, ignore: () => undefined };
    return { name: nameOf(creator.meta), handler: creator.create(context, {}) };
  });
  return async (content, rules) => {
    text = content;
    seen = [];
    // Without a path no rule opens a file, and none holds back because of the file's name.
    const source = { content, filePath: '', ext: extension === '.json' ? extension : '.txt' };
    for (const { name, handler } of handlers) {
      if (!rules.has(name)) continue;
      await handler.file?.({ ...source, contentType: 'text' } as SecretLintSourceCode);
    }
    return seen;
  };
}

const nameOf = ({ id }: { readonly id: string }): string => id.replace(NAME_SPACE, '');

/** Passes on what a rule found, and never makes a sentence of it; the type asks for each rule's own messages. */
const createTranslator = (() => (messageId: string, data: unknown) => ({
  message: '',
  messageId,
  data,
})) as unknown as SecretLintRuleContext['createTranslator'];

function secretIn(data: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const field = SECRET_FIELDS.find((name) => typeof data?.[name] === 'string');
  return field === undefined ? undefined : (data?.[field] as string);
}
