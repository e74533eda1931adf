import { scrypt } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { keepRecent } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import type { LocalFile } from '../inspect.ts';
import { candidateOf, listCandidates, matchRules } from './candidate-text.ts';
import { findKeyContainer, type SecretMatch } from './custom-rules.ts';
import { countNewlinesBefore, readBlocks } from './file-blocks.ts';
import { type FindPresetMatches, loadPresetRules } from './preset-rules.ts';
import { selectRules } from './rule-keywords.ts';

/** A secret in a file, described so that it is safe to print. */
export interface SecretFinding {
  /** The name of a custom rule, or of a rule of the secretlint preset without its prefix. */
  readonly rule: string;
  /** From 1; `null` in a binary file. */
  readonly line: number | null;
  /** From 1; `null` where it is not known. */
  readonly column: number | null;
  /** 16 hex digits, always the same for the same rule and secret. */
  readonly fingerprint: string;
}

type SearchedFile = Pick<LocalFile, 'name' | 'binary' | 'pieces'>;

/** A longer list would not be read. */
const MAX_FINDINGS = 20;

/**
 * Searches a whole file of any size, text or binary. Memory is bounded by one block.
 * A file without a NUL byte is a text; in any other file the printable strings are searched.
 *
 * @param harmless fingerprints of findings that do not count, not toward the maximum either
 * @param mask gets each secret, so that nothing that is told of the file repeats it
 * @returns at most 20 findings; those in a text are in the order of its lines.
 */
export async function findSecrets(
  file: SearchedFile,
  signal: AbortSignal,
  harmless: ReadonlySet<string> = new Set(),
  mask: (secret: string) => void = () => undefined,
): Promise<readonly SecretFinding[]> {
  const located = await takeFirst(search(file, signal), ({ fingerprint }) => !harmless.has(fingerprint));
  for (const { secret } of located) mask(secret);
  return addLines(located, file, signal);
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
  const findings = await findSecrets(file, signal, harmless, (secret) => logger.mask(secret));
  if (findings.length === 0) return;
  const list = findings.map(({ rule, line, column, fingerprint }) => {
    const place = line === null ? '' : ` in line ${line}${column === null ? '' : ` column ${column}`}`;
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

/** A secret in a short text, such as an input or a file name. The secret itself must not be printed. */
type TextSecret = Pick<SecretMatch, 'rule' | 'secret'> & Pick<SecretFinding, 'fingerprint'>;

/** Searches a short text. */
export async function findSecretsInText(text: string): Promise<readonly TextSecret[]> {
  const rules = selectRules(Buffer.from(text));
  if (rules.size === 0) return [];
  const matches = await matchRules(
    candidateOf({ text, from: 0, to: text.length }, rules),
    await loadPresetRules('.txt'),
  );
  return Promise.all(matches.map(async (match) => ({ ...match, fingerprint: await fingerprint(match) })));
}

/** A finding whose line is not yet known. */
interface LocatedFinding extends Omit<SecretFinding, 'line'>, Pick<SecretMatch, 'secret'> {
  /** Position in the file of the block in which it was found. */
  readonly blockOffset: number;
  /** Line breaks between the start of the block and the secret. */
  readonly linesInBlock: number;
}

async function takeFirst(
  findings: AsyncIterable<LocatedFinding>,
  accept: (finding: LocatedFinding) => boolean,
): Promise<LocatedFinding[]> {
  const first: LocatedFinding[] = [];
  for await (const finding of findings) {
    if (!accept(finding)) continue;
    first.push(finding);
    if (first.length === MAX_FINDINGS) break;
  }
  return first;
}

/** Yields one finding after another; the file is read only as far as the caller asks for more. */
async function* search(
  file: SearchedFile,
  signal: AbortSignal,
): AsyncGenerator<LocatedFinding, void, undefined> {
  let findPresetMatches: FindPresetMatches | undefined;
  for await (const block of readBlocks(readPieces(file, signal))) {
    const container = block.offset === 0 ? findKeyContainer(block.bytes) : null;
    if (container !== null) {
      yield {
        ...container,
        fingerprint: await fingerprint(container),
        blockOffset: 0,
        linesInBlock: 0,
        column: null,
      };
    }
    const plain = new Set<string>();
    for (const candidate of listCandidates(block, file.binary)) {
      findPresetMatches ??= await loadPresetRules(extname(file.name).toLowerCase());
      for (const match of await matchRules(candidate, findPresetMatches)) {
        // Beside what is encoded, a word may have a secret as it is. Each secret belongs to one block.
        if (!candidate.isInRange(match) || (candidate.isEmbedded && plain.has(match.secret))) continue;
        if (!candidate.isEmbedded) plain.add(match.secret);
        const { lines, column } = candidate.locate(match);
        yield {
          rule: match.rule,
          secret: match.secret,
          fingerprint: await fingerprint(match),
          blockOffset: block.offset,
          linesInBlock: lines,
          // The line may begin in an earlier block.
          column: lines > 0 || block.offset === 0 ? column : null,
        };
      }
    }
  }
}

async function* readPieces(file: SearchedFile, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of file.pieces()) {
    signal.throwIfAborted();
    yield piece;
  }
}

/** Adds the line of each finding; lines are counted only if there are findings. */
async function addLines(
  located: readonly LocatedFinding[],
  file: SearchedFile,
  signal: AbortSignal,
): Promise<readonly SecretFinding[]> {
  if (located.length === 0) return [];
  const offsets = file.binary ? [] : located.map(({ blockOffset }) => blockOffset);
  const linesBefore = await countNewlinesBefore(readPieces(file, signal), offsets);
  return located.map(({ rule, fingerprint, linesInBlock, column }, index) => {
    const line = file.binary ? null : 1 + (linesBefore[index] ?? 0) + linesInBlock;
    return { rule, line, column: line && column, fingerprint };
  });
}

const deriveKey = promisify<string, string, number, Buffer>(scrypt);

const RECENT_FINGERPRINTS = 128;

/** A slow hash, so that a weak password can't be guessed from a printed one. Files of a site often contain the same. */
const computeFingerprint = keepRecent(RECENT_FINGERPRINTS, async (key) => {
  const end = key.indexOf('\0');
  const hash = await deriveKey(key.slice(end + 1), key.slice(0, end), 8);
  return hash.toString('hex');
});
const fingerprint = ({ rule, secret }: Pick<SecretMatch, 'rule' | 'secret'>): Promise<string> =>
  computeFingerprint(`${rule}\0${secret}`);
