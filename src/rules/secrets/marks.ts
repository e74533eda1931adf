import { createMarkFilter } from '../mark-filter.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

/** Every spelling of a mark in small and capital letters. */
function anyCase(mark: string): string[] {
  let spellings = [''];
  for (const letter of mark) {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    spellings = spellings.flatMap((start) => Array.from(both, (end) => start + end));
  }
  return spellings;
}

/** A mark of which one character is any of several. */
const withAny = (before: string, characters: string, after = ''): string[] =>
  Array.from(characters, (one) => before + one + after);

/**
 * By a rule's name, the marks of which at least one stands in whatever the rule finds: four ASCII characters
 * each. A rule is asked only about texts that hold one of its marks.
 */
export const MARKS: Readonly<Record<string, readonly string[]>> = {
  aws: anyCase('cret'),
  gcp: ['e_ke'],
  npm: ['npm_', 'x-oa'],
  slack: ['xoxb', 'xoxp', 'xoxa', 'xoxo', 'xoxr', 'xapp', ...anyCase('s.sl')],
  sendgrid: withAny('SG.', `${LETTERS}${DIGITS}_`),
  shopify: ['shpp', 'shpc', 'shpa', 'shps'],
  github: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'b_pa'],
  gitlab: ['glpa'],
  grafana: ['glc_', 'glsa'],
  openai: ['T3Bl'],
  anthropic: ['sk-a'],
  groq: ['gsk_'],
  huggingface: withAny('hf_', LETTERS),
  linear: ['lin_'],
  notion: ['ntn_'],
  '1password': ['ops_'],
  'database-connection-string': ['db:/', '+srv', 'ql:/', 'lx:/', 'es:/'].flatMap(anyCase),
  'hashicorp-vault': ['hvs.', 'hvb.', 'hvr.'],
  vercel: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'],
  databricks: ['dapi'],
  docker: ['dckr'],
  figma: ['figd'],
  stripe: ['sk_l', 'sk_t', 'rk_l', 'rk_t'],
  cloudflare: ['cfk_', 'cfut', 'cfat'],
  tailscale: ['tske'],
  cookie: anyCase('ooki'),
  authorization: anyCase('oriz'),
  'private-key': ['E KE', 'e-Li'],
  'url-password': [...withAny('', `${LETTERS}${DIGITS}+.-`, '://'), ':\\/\\'],
  'npm-auth-token': ['_aut'],
};

/** What must stand beside a mark that is common: without it, the rule finds nothing. */
export const COMPANIONS: Readonly<Record<string, string>> = { 'url-password': '@' };

const sift = createMarkFilter(
  Object.entries(MARKS).flatMap(([rule, marks]) => marks.map((mark) => [rule, Buffer.from(mark)] as const)),
);

/**
 * The rules that may find something in these bytes. All others find nothing, so that bytes without any mark
 * need not become a text at all.
 */
export function markedRules(bytes: Buffer): ReadonlySet<string> {
  const rules = sift(bytes);
  for (const [rule, companion] of Object.entries(COMPANIONS)) {
    if (rules.has(rule) && !bytes.includes(companion)) rules.delete(rule);
  }
  return rules;
}
