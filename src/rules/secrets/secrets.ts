import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { keepRecent } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import type { Words } from '../../words.ts';
import type { LocalFile } from '../inspect.ts';
import { decodeText } from '../page/page-file.ts';
import { UTF_16_MARK } from '../text-encoding.ts';
import { findCustomMatches, type SecretMatch } from './custom-rules.ts';
import { decodeEmbedded } from './embedded.ts';
import { type FileBlock, readBlocks } from './file-blocks.ts';
import { findPresetMatches } from './preset-rules.ts';
import { nameSecret, selectRules } from './rule-keywords.ts';

interface FoundSecret {
  readonly rule: string;
  /** Must not be printed. */
  readonly secret: string;
  /** 16 hex digits, always the same for the same rule and secret. */
  readonly fingerprint: string;
  readonly position: number;
}

type SearchedFile = Pick<LocalFile, 'name' | 'firstBytes' | 'binary' | 'pieces'>;

const MAX_FINDINGS = 20;

/**
 * Refuses a file that contains secrets, and masks them. @see protocol 1 (file rules: secrets), 7 (prohibition 3)
 *
 * @param allowed fingerprints of harmless findings @returns the number of allowed findings
 * @throws {DeliveryError} `BAD_FILE` with rule, line, column and fingerprint of the first 20, never with the secret.
 */
export async function refuseSecrets(
  file: SearchedFile,
  allowed: readonly string[],
  { logger, signal }: Pick<Ports, 'logger' | 'signal'>,
): Promise<number> {
  const harmless = new Set(allowed.map((fingerprint) => fingerprint.trim().toLowerCase()));
  const found: FoundSecret[] = [];
  let count = 0;
  for await (const block of readBlocks(readAsUtf8(file, signal))) {
    for await (const secret of searchBlock(block)) {
      if (found.length === MAX_FINDINGS) break;
      if (harmless.has(secret.fingerprint)) count += 1;
      else found.push(secret);
    }
    if (found.length === MAX_FINDINGS) break;
  }
  for (const { secret } of found) logger.mask(secret);
  if (count > 0) logger.info(`${file.name}: ${count} allowed findings that look like secrets`);
  if (found.length === 0) return count;
  const list = await locateFindings(found, file, signal);
  const about = (w: Pick<Words, 'fingerprint'>): string => {
    const secrets = list.map(
      ({ rule, location, fingerprint }) => nameSecret(rule) + location + w.fingerprint(fingerprint),
    );
    return `the file ${file.name} contains what looks like a secret: ${secrets.join(', ')}`;
  };
  const fingerprints = [...new Set(found.map(({ fingerprint }) => fingerprint))].join(' ');
  throw new DeliveryError('BAD_FILE', about, {
    hint: (w) =>
      `remove it from the file and revoke it${w.orSet('allow-secret', fingerprints, ' if it is known to be harmless')}`,
  });
}

/** Searches a short text, such as an input or a file name. */
export async function findSecretsInText(text: string): Promise<readonly FoundSecret[]> {
  const bytes = Buffer.from(text);
  const found: FoundSecret[] = [];
  for await (const secret of searchBlock({ bytes, from: 0, to: bytes.length, offset: 0 })) found.push(secret);
  return found;
}

/** The secrets that begin in the range of a block, plain or encoded. */
async function* searchBlock({
  bytes: block,
  from,
  to,
  offset,
}: FileBlock): AsyncGenerator<FoundSecret, void, undefined> {
  const known = new Set<string>();
  for (const { bytes, positionOf } of decodeEmbedded(block)) {
    const rules = selectRules(bytes);
    if (rules.size === 0) continue;
    for (const match of await matchRules(bytes.toString('latin1'), rules)) {
      const begin = positionOf(match.from);
      // A decoded word may also contain plain secrets that were found before.
      if (begin < from || begin >= to || (bytes !== block && known.has(match.secret))) continue;
      known.add(match.secret);
      const secret = Buffer.from(match.secret, 'latin1').toString();
      const fingerprint = await computeFingerprint(`${match.rule}\0${secret}`);
      yield { rule: match.rule, secret, fingerprint, position: offset + positionOf(match.at) };
    }
  }
}

async function matchRules(text: string, rules: ReadonlySet<string>): Promise<readonly SecretMatch[]> {
  const distinct: SecretMatch[] = [];
  for (const match of [...(await findPresetMatches(text, rules)), ...findCustomMatches(text, rules)]) {
    if (!distinct.some((known) => overlaps(match, known))) distinct.push(match);
  }
  return distinct.sort((a, b) => a.at - b.at);
}

const overlaps = (match: SecretMatch, known: SecretMatch): boolean =>
  match.at < known.at + known.secret.length && known.at < match.at + match.secret.length;

const isUtf16 = ({ firstBytes }: SearchedFile): boolean => UTF_16_MARK.test(firstBytes);

async function* readAsUtf8(file: SearchedFile, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of isUtf16(file) ? decodeText(file.pieces()) : file.pieces()) {
    signal.throwIfAborted();
    yield typeof piece === 'string' ? Buffer.from(piece) : piece;
  }
}

/** Sorts the findings, and adds line and column in a text by reading it again. */
async function locateFindings(found: readonly FoundSecret[], file: SearchedFile, signal: AbortSignal) {
  const pending = found.toSorted((a, b) => a.position - b.position);
  if (file.binary && !isUtf16(file)) return pending.map((secret) => ({ ...secret, location: '' }));
  const located: (FoundSecret & { readonly location: string })[] = [];
  let [position, line, column] = [0, 1, 1];
  for await (const piece of readAsUtf8(file, signal)) {
    for (let at = 0; at < piece.length; at += 1) {
      for (let next = pending[0]; next?.position === position; next = pending[0]) {
        located.push({ ...next, location: ` in line ${line} column ${column}` });
        pending.shift();
      }
      if (pending.length === 0) return located;
      position += 1;
      const byte = piece[at] as number;
      if (byte === 0x0a) [line, column] = [line + 1, 1];
      else if ((byte & 0xc0) !== 0x80) column += 1;
    }
  }
  return located;
}

const deriveKey = promisify<string, string, number, Buffer>(scrypt);

/** A slow hash, so that nobody can guess a weak password from it. Files of a site often share secrets. */
const computeFingerprint = keepRecent(128, async (key) => {
  const end = key.indexOf('\0');
  const hash = await deriveKey(key.slice(end + 1), key.slice(0, end), 8);
  return hash.toString('hex');
});
