import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { hasFailed, resultOf } from '../../../src/errors.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { nameSecret, RULE_KEYWORDS } from '../../../src/rules/secrets/rule-keywords.ts';
import { refuseSecrets } from '../../../src/rules/secrets/secrets.ts';
import { fakePorts } from '../../support/ports.ts';

/**
 * Secrets that have a real format but open nothing. They are composed at run time, so that no scanner finds
 * one in this file.
 */

const DIGITS = '0123456789';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ALPHANUMERIC = LETTERS + DIGITS;
const HEX = `${DIGITS}abcdef`;
const BASE64 = `${ALPHANUMERIC}+/`;

/** Pseudo-random characters: the same in every run, different for every seed. */
export function drawn(length: number, alphabet = ALPHANUMERIC, seed = length): string {
  let state = seed + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += alphabet[(state >>> 16) % alphabet.length];
  }
  return text;
}

const openAi = `T3${'BlbkFJ'}`;

/** For each rule of the preset: the rule, the text before the secret, and the secret. */
export const PRESET_SECRETS: readonly (readonly [rule: string, before: string, secret: string])[] = [
  ['aws', 'AWS_SECRET_ACCESS_KEY="', drawn(40)],
  ['npm', '', `npm_${drawn(36)}`],
  ['npm', '"git": "https://', `${drawn(40, HEX)}:x-oauth-${'basic'}@github.com/`],
  ['slack', '', `xoxb-${drawn(12, DIGITS)}-${drawn(13, DIGITS)}-${drawn(24)}`],
  ['slack', '', `https://hooks.slack.com/services/T${drawn(9)}/B${drawn(10)}/${drawn(24)}`],
  ['sendgrid', '', `SG.${drawn(22)}.${drawn(43)}`],
  ['shopify', '', `shpat_${drawn(32)}`],
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((type) => ['github', '', `${type}_${drawn(36)}`] as const),
  ['github', '', `github_pat_${drawn(82)}`],
  ['gitlab', '', `glpat-${drawn(20)}`],
  ['grafana', '', `glc_${drawn(80)}`],
  ['grafana', '', `glsa_${drawn(32)}_${drawn(8, HEX)}`],
  ['openai', '', `sk-${drawn(20)}${openAi}${drawn(20, ALPHANUMERIC, 7)}`],
  ['openai', '', `sk-proj-${drawn(74)}${openAi}${drawn(74, ALPHANUMERIC, 7)}`],
  ['anthropic', '', `sk-ant-api03-${drawn(93)}AA`],
  ['groq', '', `gsk_${drawn(52)}`],
  ['huggingface', '', `hf_${drawn(34, LETTERS)}`],
  ['linear', '', `lin_api_${drawn(40)}`],
  ['notion', '', `ntn_${drawn(11, DIGITS)}${drawn(35)}`],
  ['1password', '', `ops_${createOnePasswordAccount()}`],
  ['database-connection-string', '', `mongodb+srv://app:${drawn(12)}@db.acme.io/main`],
  ['database-connection-string', '', `jdbc:mysql://app:${drawn(12)}@db.acme.io:3306/main`],
  ['database-connection-string', '', `postgres://app:${drawn(12)}@db.acme.io/main`],
  ['hashicorp-vault', '', `hvs.${drawn(95)}`],
  ['hashicorp-vault', '', `hvb.${drawn(150)}`],
  ['hashicorp-vault', '', `hvr.${drawn(95)}`],
  ['vercel', '', `vcp_${drawn(24)}`],
  ['databricks', '', `dapi${drawn(32, HEX)}`],
  ['docker', '', `dckr_pat_${drawn(27)}`],
  ['figma', '', `figd_${drawn(40)}`],
  ['stripe', '', `sk_${'live'}_${drawn(48)}`],
  ['cloudflare', '', `cfut_${drawn(40)}${drawn(8, HEX)}`],
  ['tailscale', '', `tskey-${'auth'}-${drawn(12)}-${drawn(32)}`],
];

/** JSON in base64 whose last group of four encodes a single byte, the closing brace. */
function createOnePasswordAccount(): string {
  const json = [100, 101, 102].map((length) => JSON.stringify({ secretKey: drawn(length) }));
  return Buffer.from(json.find((text) => text.length % 3 === 1) as string).toString('base64');
}

/** A new private key in PEM. */
export function pem(form: 'pkcs8' | 'sec1' | 'sealed' = 'pkcs8'): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const seal = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  return privateKey.export(form === 'sealed' ? seal : { type: form, format: 'pem' }).toString();
}

/** A PEM block with a pseudo-random body. */
export function armoured(kind: string, { attributes = '', start = '', length = 400 } = {}): string {
  const lines = `${start}${drawn(length, BASE64)}`.match(/.{1,64}/g) as string[];
  return `-----BEGIN ${kind}-----\n${attributes}${lines.join('\n')}\n-----END ${kind}-----\n`;
}

/** A file in memory, read in pieces of a given size that all use the same buffer. */
export function fileOf(
  content: string | Buffer,
  name = 'page.html',
  size = 65_536,
): Pick<LocalFile, 'name' | 'size' | 'firstBytes' | 'binary' | 'read' | 'pieces'> {
  const bytes = Buffer.from(content as Buffer);
  async function* pieces(): AsyncGenerator<Buffer> {
    const buffer = Buffer.alloc(size);
    for (let at = 0; at < bytes.length; at += size) {
      yield buffer.subarray(0, bytes.copy(buffer, 0, at));
      buffer.fill('x');
    }
  }
  const read = (): Readable => Readable.from([bytes]);
  const head = bytes.toString('latin1', 0, 16);
  return { name, size: bytes.length, firstBytes: head, binary: bytes.includes(0), read, pieces };
}

interface Finding {
  readonly rule: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly fingerprint: string;
}

/** The secrets as the refusal of a file names them. */
export async function findSecrets(...file: Parameters<typeof fileOf>): Promise<readonly Finding[]> {
  const refused = await resultOf(() => refuseSecrets(fileOf(...file), [], fakePorts()));
  if (!hasFailed(refused)) return [];
  if (refused.code !== 'BAD_FILE') throw refused;
  const found = refused.message.matchAll(
    /[:,] ([^:,]+?)(?: in line (\d+) column (\d+))? \(fingerprint (\w+)\)/g,
  );
  const rules = Object.keys(RULE_KEYWORDS);
  return Array.from(found, ([, name, line, column, fingerprint = '']) => ({
    rule: rules.find((rule) => nameSecret(rule) === name) ?? '',
    line: line === undefined ? null : Number(line),
    column: column === undefined ? null : Number(column),
    fingerprint,
  }));
}
