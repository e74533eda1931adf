import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { keepRecent } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import type { LocalFile } from '../inspect.ts';
import { decodeText } from '../page/page-file.ts';
import { findCustomMatches, type SecretMatch } from './custom-rules.ts';
import { decodeEmbedded } from './embedded.ts';
import { type FileBlock, readBlocks } from './file-blocks.ts';
import { loadPresetRules } from './preset-rules.ts';
import { selectRules } from './rule-keywords.ts';

/** A secret in a text. The secret itself must not be printed. */
interface FoundSecret {
  /** The name of a custom rule, or of a rule of the secretlint preset without its prefix. */
  readonly rule: string;
  readonly secret: string;
  /** 16 hex digits, always the same for the same rule and secret. */
  readonly fingerprint: string;
  /** In bytes, from the beginning of the text. */
  readonly position: number;
}

/** A secret in a file, described so that it is safe to print. */
export interface SecretFinding extends Pick<FoundSecret, 'rule' | 'fingerprint'> {
  /** From 1; `null` in a binary file. */
  readonly line: number | null;
  /** From 1; `null` in a binary file. */
  readonly column: number | null;
}

type SearchedFile = Pick<LocalFile, 'name' | 'head' | 'binary' | 'pieces'>;

/** A longer list would not be read. */
const MAX_FINDINGS = 20;

/**
 * Searches a whole file of any size, text or binary. Memory is bounded by one block.
 *
 * @param isHarmless says of a fingerprint that its finding does not count, not toward the maximum either
 * @param mask gets each secret, so that nothing that is told of the file repeats it
 * @returns at most 20 findings, in the order of the file
 */
export async function findSecrets(
  file: SearchedFile,
  signal: AbortSignal,
  isHarmless: (fingerprint: string) => boolean = () => false,
  mask: (secret: string) => void = () => undefined,
): Promise<readonly SecretFinding[]> {
  const found: FoundSecret[] = [];
  for await (const one of searchFile(file, signal)) {
    if (isHarmless(one.fingerprint)) continue;
    mask(one.secret);
    found.push(one);
    if (found.length === MAX_FINDINGS) break;
  }
  return addLines(found, file, signal);
}

/**
 * Refuses a file that contains secrets.
 *
 * @param allowed fingerprints of findings that are known to be harmless
 * @throws {DeliveryError} `BAD_FILE` with rule, line, column and fingerprint of each finding, never with the secret.
 * @see protocol 1 (file rules: secrets), 7 (prohibition 3)
 */
export async function refuseSecrets(
  file: SearchedFile,
  allowed: readonly string[],
  { logger, signal }: Pick<Ports, 'logger' | 'signal'>,
): Promise<void> {
  const harmless = new Set(allowed.map((fingerprint) => fingerprint.trim().toLowerCase()));
  let count = 0;
  const isHarmless = (fingerprint: string): boolean => {
    if (!harmless.has(fingerprint)) return false;
    count += 1;
    return true;
  };
  const findings = await findSecrets(file, signal, isHarmless, (secret) => logger.mask(secret));
  if (count > 0) logger.info(`${file.name}: allowed, though it looks like a secret: ${count} times`);
  if (findings.length === 0) return;
  const list = findings.map(({ rule, line, column, fingerprint }) => {
    const place = line === null ? '' : ` in line ${line} column ${column}`;
    return `${rule}${place} (fingerprint ${fingerprint})`;
  });
  const fingerprints = [...new Set(findings.map(({ fingerprint }) => fingerprint))];
  throw new DeliveryError(
    'BAD_FILE',
    `the file ${file.name} contains what looks like a secret: ${list.join(', ')}`,
    {
      hint: (w) =>
        `remove it from the file and revoke it, or, if it is known to be harmless, set ${w.input('allow-secret', fingerprints.join(' '))}`,
    },
  );
}

/** Searches a short text, such as an input or a file name. */
export async function findSecretsInText(text: string): Promise<readonly FoundSecret[]> {
  const bytes = Buffer.from(text);
  const found: FoundSecret[] = [];
  for await (const one of searchBlock({ bytes, from: 0, to: bytes.length, offset: 0 })) found.push(one);
  return found;
}

/** Yields one finding after another; the file is read only as far as the caller asks for more. */
async function* searchFile(
  file: SearchedFile,
  signal: AbortSignal,
): AsyncGenerator<FoundSecret, void, undefined> {
  for await (const block of readBlocks(readAsUtf8(file, signal))) yield* searchBlock(block);
}

/** The secrets that begin in the range of a block: as they are, and in what is embedded. */
async function* searchBlock({
  bytes: block,
  from,
  to,
  offset,
}: FileBlock): AsyncGenerator<FoundSecret, void, undefined> {
  const plain = { bytes: block, positionOf: (index: number) => index };
  const known = new Set<string>();
  for (const { bytes, positionOf } of [plain, ...decodeEmbedded(block)]) {
    for (const match of await matchRules(bytes)) {
      const begin = positionOf(match.from);
      // Beside what is encoded, a word may have a secret as it is. Each secret belongs to one block.
      if (begin < from || begin >= to || (bytes !== block && known.has(match.secret))) continue;
      known.add(match.secret);
      const secret = Buffer.from(match.secret, 'latin1').toString();
      const fingerprint = await computeFingerprint(`${match.rule}\0${secret}`);
      yield { rule: match.rule, secret, fingerprint, position: offset + positionOf(match.at) };
    }
  }
}

/** The matches in some bytes in their order, each secret under one rule. A byte is one character. */
async function matchRules(bytes: Buffer): Promise<readonly SecretMatch[]> {
  const rules = selectRules(bytes);
  if (rules.size === 0) return [];
  const text = bytes.toString('latin1');
  const distinct: SecretMatch[] = [];
  const findPresetMatches = await loadPresetRules();
  for (const match of [...(await findPresetMatches(text, rules)), ...findCustomMatches(text, rules)]) {
    if (!distinct.some((known) => overlaps(match, known))) distinct.push(match);
  }
  return distinct.sort((one, other) => one.at - other.at);
}

const overlaps = (match: SecretMatch, known: SecretMatch): boolean =>
  match.at < known.at + known.secret.length && known.at < match.at + match.secret.length;

/** A byte order mark that no other file begins with. */
const UTF_16_MARK = /^(?:\xff\xfe|\xfe\xff)/;

const isWide = ({ head }: SearchedFile): boolean => UTF_16_MARK.test(head);

/** The bytes of a file; of a text in UTF-16, those of the same text in UTF-8. */
async function* readAsUtf8(file: SearchedFile, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of isWide(file) ? decodeText(file.pieces()) : file.pieces()) {
    signal.throwIfAborted();
    yield typeof piece === 'string' ? Buffer.from(piece) : piece;
  }
}

const LINE_FEED = 0x0a;

/** Adds line and column of each finding in a text, which is read again up to the last one. */
async function addLines(
  found: readonly FoundSecret[],
  file: SearchedFile,
  signal: AbortSignal,
): Promise<readonly SecretFinding[]> {
  const pending = found.toSorted((one, other) => one.position - other.position);
  if (file.binary && !isWide(file)) {
    return pending.map(({ rule, fingerprint }) => ({ rule, line: null, column: null, fingerprint }));
  }
  const located: SecretFinding[] = [];
  let [position, line, column] = [0, 1, 1];
  if (pending.length === 0) return located;
  for await (const piece of readAsUtf8(file, signal)) {
    for (let at = 0; at < piece.length; at += 1) {
      for (let next = pending[0]; next?.position === position; next = pending[0]) {
        located.push({ rule: next.rule, line, column, fingerprint: next.fingerprint });
        pending.shift();
      }
      if (pending.length === 0) return located;
      position += 1;
      const byte = piece[at] as number;
      if (byte === LINE_FEED) [line, column] = [line + 1, 1];
      else if ((byte & 0xc0) !== 0x80) column += 1;
    }
  }
  return located;
}

const deriveKey = promisify<string, string, number, Buffer>(scrypt);

const RECENT_FINGERPRINTS = 128;

/** A slow hash, so that a weak password can't be guessed from a printed one. Files of a site often contain the same. */
const computeFingerprint = keepRecent(RECENT_FINGERPRINTS, async (key) => {
  const end = key.indexOf('\0');
  const hash = await deriveKey(key.slice(end + 1), key.slice(0, end), 8);
  return hash.toString('hex');
});
