import { createKeywordSearch } from '../keyword-filter.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';

function anyCase(keyword: string): string[] {
  let spellings = [''];
  for (const letter of keyword) {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    spellings = spellings.flatMap((start) => Array.from(both, (end) => start + end));
  }
  return spellings;
}

const withAny = (start: string, characters: string): string[] => Array.from(characters, (end) => start + end);

/** Every secret that a rule finds contains one of its keywords, so the rule runs only if one occurs. */
export const RULE_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  aws: [...anyCase('skey'), ...anyCase('s_ke')],
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
  'github-refresh': ['ghr_'],
  'registry-login': ['_aut', ...withAny('uth', '"\'`\\&')],
  netrc: ['chin'],
  'private-key': ['E KE', 'e-Li'],
  // With escaped slashes; `selectRules` knows the plain ones.
  'url-password': [':\\/\\'],
};

/** Names of what rules find. Others find a token of the vendor in their name. */
const SECRET_NAMES: Readonly<Record<string, string>> = {
  aws: 'AWS secret key',
  npm: 'npm token',
  sendgrid: 'SendGrid key',
  github: 'GitHub token',
  'github-refresh': 'GitHub refresh token',
  gitlab: 'GitLab token',
  openai: 'OpenAI key',
  huggingface: 'Hugging Face token',
  '1password': '1Password token',
  'database-connection-string': 'password in a database address',
  'hashicorp-vault': 'HashiCorp Vault token',
  cookie: 'session cookie',
  authorization: 'Authorization header',
  'registry-login': 'registry login',
  netrc: 'netrc password',
  'private-key': 'private key',
  'url-password': 'password in an address',
};

export const nameSecret = (rule: string): string =>
  SECRET_NAMES[rule] ?? `${rule.charAt(0).toUpperCase()}${rule.slice(1)} token`;

const findRules = createKeywordSearch(
  Object.entries(RULE_KEYWORDS).flatMap(([rule, keywords]) =>
    keywords.map((keyword) => [rule, keyword] as const),
  ),
);

/** Selects the rules that may find a secret in these bytes. */
export function selectRules(bytes: Buffer): ReadonlySet<string> {
  const rules = new Set<string>();
  findRules(bytes, (rule) => {
    rules.add(rule);
    return false;
  });
  // Many texts have URLs, but few also have an `@`.
  if (bytes.includes('@') && bytes.includes('://')) rules.add('url-password');
  return rules;
}
