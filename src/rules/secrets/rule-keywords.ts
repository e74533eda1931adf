import { createKeywordFilter } from '../keyword-filter.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

/** Every spelling of a keyword in small and capital letters. */
function anyCase(keyword: string): string[] {
  let spellings = [''];
  for (const letter of keyword) {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    spellings = spellings.flatMap((start) => Array.from(both, (end) => start + end));
  }
  return spellings;
}

/** A keyword in which one character is any of several. */
const withAny = (before: string, characters: string, after = ''): string[] =>
  Array.from(characters, (one) => before + one + after);

/**
 * The keywords of each rule, four ASCII characters each. Every secret that a rule finds contains at least one
 * of its keywords, so a rule runs only on texts that contain one.
 */
export const RULE_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
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
  'aws-secret-key': [...anyCase('cret'), 'AKIA', 'ASIA'],
};

/** A second text that a rule with frequent keywords requires: without it, the rule finds nothing. */
const REQUIRED_TEXTS: Readonly<Record<string, string>> = { 'url-password': '@' };

const findRules = createKeywordFilter(
  Object.entries(RULE_KEYWORDS).flatMap(([rule, keywords]) =>
    keywords.map((keyword) => [rule, Buffer.from(keyword)] as const),
  ),
);

/**
 * Selects the rules that may find a secret in these bytes. All others find nothing, so bytes without any
 * keyword are not even decoded.
 */
export function selectRules(bytes: Buffer): ReadonlySet<string> {
  const rules = findRules(bytes);
  for (const [rule, required] of Object.entries(REQUIRED_TEXTS)) {
    if (rules.has(rule) && !bytes.includes(required)) rules.delete(rule);
  }
  return rules;
}
