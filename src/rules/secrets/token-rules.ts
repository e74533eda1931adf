import type { SecretMatch } from './custom-rules.ts';
import { hasLongRepetition } from './custom-rules.ts';

/** A kind of token that its own prefix marks. */
interface TokenRule {
  /** Four characters each: every token contains one. Without any, `selectCommonRules` selects the rule. */
  readonly keywords: readonly string[];
  /** Global and of bounded length. The first group is the secret, if there is one. */
  readonly pattern: RegExp;
  /** Characters of the secret before what the pattern matches: one that begins with any letter is slow. */
  readonly before?: number;
  /** A further condition. */
  readonly accepts?: (secret: string) => boolean;
}

const START = '(?<![A-Za-z0-9])';
const token = (pattern: string): RegExp => new RegExp(`${START}(?:${pattern})(?![A-Za-z0-9])`, 'g');

/** A signed token whose header names the algorithm; the one that every tutorial shows is no secret. */
function isSignedToken(secret: string): boolean {
  const [header = '', payload = ''] = secret
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('latin1'));
  return /"alg"\s*:\s*"[A-Z]{2}\d/.test(header) && payload.startsWith('{') && !/"John Doe"/.test(payload);
}

/**
 * Tokens that the preset does not know. Only kinds are listed whose prefix is rare, as in the lists of other scanners,
 * so that minified code contains none by chance.
 */
export const TOKEN_RULES: Readonly<Record<string, TokenRule>> = {
  // A refresh token; the preset knows those of 36 characters.
  github: { keywords: ['ghr_'], pattern: token('ghr_[A-Za-z0-9]{76}') },
  'google-api-key': { keywords: ['AIza'], pattern: token(String.raw`AIza[\w-]{35}`) },
  'google-oauth': {
    keywords: ['GOCS', 'ya29'],
    pattern: token(String.raw`GOCSPX-[\w-]{28}|ya29\.[\w-]{30,512}`),
  },
  jwt: {
    keywords: ['eyJh', 'eyJ0', 'eyJr', 'eyJj', 'eyJl', 'eyJ6', 'eyJi', 'eyJ4'],
    pattern: token(String.raw`eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{20,1024}`),
    accepts: isSignedToken,
  },
  'azure-key': {
    keywords: ['Key='],
    pattern: /\b(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)/g,
  },
  pypi: { keywords: ['-AgE'], pattern: token(String.raw`pypi-AgE[\w-]{50,1000}`) },
  twilio: { keywords: [], pattern: token('SK[0-9a-f]{32}') },
  gitlab: {
    keywords: ['glpt', 'gldt', 'glrt', 'glcb', 'GR13'],
    pattern: token(String.raw`gl(?:ptt|dt|rt|cbt)-[\w-]{20,300}|GR1348941[\w-]{20}`),
  },
  digitalocean: { keywords: ['_v1_'], pattern: token('do[opr]_v1_[a-f0-9]{64}') },
  openrouter: { keywords: ['sk-o'], pattern: token('sk-or-v1-[a-f0-9]{64}') },
  supabase: { keywords: ['sbp_', 'sb_s'], pattern: token('sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{31,60}') },
  netlify: { keywords: ['nfp_', 'nfc_'], pattern: token('nf[pc]_[A-Za-z0-9]{36}') },
  heroku: { keywords: ['HRKU'], pattern: token(String.raw`HRKU-[\w-]{36,80}`) },
  doppler: {
    keywords: ['dp.p', 'dp.s', 'dp.c'],
    pattern: token(String.raw`dp\.(?:pt|st|ct|scim|audit)\.[A-Za-z0-9.]{40,80}`),
  },
  postman: { keywords: ['PMAK'], pattern: token('PMAK-[a-f0-9]{24}-[a-f0-9]{34}') },
  newrelic: { keywords: ['NRAK'], pattern: token('NRAK-[A-Z0-9]{27}') },
  'discord-webhook': {
    keywords: Array.from('123456789', (digit) => `ks/${digit}`),
    pattern: /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/(\d{17,20}\/[\w-]{60,80})/g,
  },
  square: {
    keywords: ['sq0a', 'sq0c', 'EAAA'],
    pattern: token(String.raw`sq0(?:atp|csp)-[\w-]{22,60}|EAAA[\w-]{60}`),
  },
  atlassian: {
    keywords: ['ATAT', 'ATCT', 'ATBB'],
    pattern: token(String.raw`AT(?:ATT3xFf|CTT3xFf)[\w=-]{100,300}|ATBB[A-Za-z0-9]{32}`),
  },
  dynatrace: {
    keywords: ['dt0c', 'dt0s'],
    pattern: token(String.raw`dt0[cs]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}`),
  },
  terraform: {
    keywords: ['sv1.'],
    pattern: new RegExp(
      String.raw`\.atlasv1\.(?<=${START}[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{60,70}(?![A-Za-z0-9])`,
      'g',
    ),
    before: 14,
  },
  'age-key': { keywords: ['AGE-'], pattern: token('AGE-SECRET-KEY-1[0-9A-Z]{58}') },
  langsmith: { keywords: ['sv2_'], pattern: token('lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}') },
  'claude-login': { keywords: ['sk-a'], pattern: token(String.raw`sk-ant-o[ar]t\d\d-[\w-]{80,120}`) },
  xai: { keywords: ['xai-'], pattern: token('xai-[A-Za-z0-9]{80}') },
  perplexity: { keywords: ['pplx'], pattern: token('pplx-[A-Za-z0-9]{48}') },
  'webhook-secret': { keywords: ['whse'], pattern: token('whsec_[A-Za-z0-9+/]{32,64}') },
  rubygems: { keywords: ['ems_'], pattern: token('rubygems_[a-f0-9]{48}') },
  sentry: {
    keywords: ['rys_', 'ryu_'],
    pattern: token(String.raw`sntrys_eyJ[\w+/=-]{60,400}|sntryu_[a-f0-9]{64}`),
  },
  pulumi: { keywords: ['pul-'], pattern: token('pul-[a-f0-9]{40}') },
  telegram: {
    keywords: [':AAE', ':AAF', ':AAG', ':AAH'],
    pattern: token(String.raw`\d{8,10}:AA[E-H][\w-]{32}`),
  },
  'rsa-jwk': {
    keywords: ['kty"'],
    pattern: /"kty"\s{0,4}:\s{0,4}"(?:RSA|EC|OKP)"[^{}]{0,4000}?"d"\s{0,4}:\s{0,4}"([\w-]{43,1400})"/g,
  },
};

/** How every key of twilio begins: too short for a keyword, but rare. */
const TWILIO = { text: 'SK', pattern: /^SK[0-9a-f]{8}/, length: 10 } as const;

/** Selects the rules whose secrets no keywords of four characters mark. */
export function selectCommonRules(bytes: Buffer): string[] {
  const rules: string[] = [];
  // Addresses are everywhere, but few texts with addresses have this character as well.
  if (bytes.includes(AT_SIGN) && bytes.includes('://')) rules.push('url-password');
  const { text, pattern, length } = TWILIO;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    if (pattern.test(bytes.toString('latin1', at, at + length))) return [...rules, 'twilio'];
  }
  return rules;
}

const AT_SIGN = 0x40;

/** Fewer different characters than this are an example. */
const FEWEST_CHARACTERS = 8;

/** Runs the token rules with these names on a text. */
export function findTokens(text: string, rules: ReadonlySet<string>): SecretMatch[] {
  const matches: SecretMatch[] = [];
  for (const [rule, { pattern, before = 0, accepts }] of Object.entries(TOKEN_RULES)) {
    if (!rules.has(rule)) continue;
    for (const match of text.matchAll(pattern)) {
      const from = match.index - before;
      const end = match.index + match[0].length;
      const secret = match[1] ?? text.slice(from, end);
      if (new Set(secret).size < FEWEST_CHARACTERS || hasLongRepetition(secret)) continue;
      if (/example|placeholder|your[_-]/i.test(secret) || accepts?.(secret) === false) continue;
      matches.push({ rule, secret, from, at: text.indexOf(secret, from) });
    }
  }
  return matches;
}
