import { createKeywordFilter } from '../keyword-filter.ts';
import { selectCommonRules, TOKEN_RULES } from './token-rules.ts';

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
  aws: anyCase('secr'),
  gcp: ['e_ke'],
  npm: ['npm_', 'x-oa'],
  slack: ['xoxb', 'xoxp', 'xoxa', 'xoxo', 'xoxr', 'xapp', ...anyCase('.sla')],
  sendgrid: withAny('SG.', `${LETTERS}${DIGITS}_`),
  shopify: ['shpp', 'shpc', 'shpa', 'shps'],
  github: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'b_pa'],
  gitlab: ['glpa'],
  grafana: ['glc_', 'glsa'],
  openai: ['T3Bl'],
  anthropic: ['sk-a'],
  groq: ['gsk_'],
  huggingface: withAny('hf_', LETTERS),
  linear: ['n_ap'],
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
  authorization: anyCase('riza'),
  'private-key': ['E KE', 'e-Li'],
  'npm-auth-token': ['_aut'],
  'registry-login': ['_aut', ...withAny('uth', '"\'`\\&')],
  netrc: ['chin'],
  'aws-secret-key': [...anyCase('secr'), 'AKIA', 'ASIA'],
  // With escaped slashes; `selectCommonRules` knows the plain ones.
  'url-password': [':\\/\\'],
};

/** Further keywords of rules with frequent ones: without one of these as well, the rule finds nothing. */
const REQUIRED_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  // AccessKey or Access_Key.
  aws: [...anyCase('skey'), ...anyCase('s_ke')],
  // The same, SecretKey, or the key's id.
  'aws-secret-key': ['skey', 'tkey', 's_ke', 't_ke', 's-ke', 't-ke', ' key']
    .flatMap(anyCase)
    .concat('AKIA', 'ASIA'),
  netrc: ['sswo'],
  // AccountKey or SharedAccessKey.
  'azure-key': ['ntKe', 'ssKe'],
};

/** Marks a rule's required keywords. */
const REQUIRED = '+';

/** The keywords of all rules; the preset and the rules of prefixes share one name for the same service. */
const ALL_KEYWORDS = [
  ...Object.entries(RULE_KEYWORDS),
  ...Object.entries(TOKEN_RULES).map(([rule, { keywords }]) => [rule, keywords] as const),
];

const findRules = createKeywordFilter(
  ALL_KEYWORDS.flatMap(([rule, keywords]) => [
    ...keywords.map((keyword) => [rule, keyword] as const),
    ...(REQUIRED_KEYWORDS[rule] ?? []).map((keyword) => [rule + REQUIRED, keyword] as const),
  ]),
);

/**
 * Selects the rules that may find a secret in these bytes. All others find nothing, so bytes without any
 * keyword are not even decoded.
 */
export function selectRules(bytes: Buffer): ReadonlySet<string> {
  const rules = findRules(bytes);
  for (const rule of selectCommonRules(bytes)) rules.add(rule);
  for (const rule of Object.keys(REQUIRED_KEYWORDS)) {
    if (!rules.delete(rule + REQUIRED)) rules.delete(rule);
  }
  return rules;
}
