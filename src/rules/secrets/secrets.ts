import { scrypt } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { DeliveryError } from '../../errors.ts';
import { keepRecent } from '../../recent-values.ts';
import type { LocalFile } from '../inspect.ts';
import { type BlockText, decodeUtf8, extractAsciiStrings, extractUtf16Strings } from './block-text.ts';
import { findCustomMatches, findKeyContainer, type SecretMatch } from './custom-rules.ts';
import type { DecodedPart } from './decoded-part.ts';
import { createEmbeddedDecoder } from './embedded.ts';
import {
  countNewlineBytes,
  countNewlines,
  countNewlinesBefore,
  type FileBlock,
  readBlocks,
} from './file-blocks.ts';
import { type FindPresetMatches, loadPresetRules } from './preset-rules.ts';
import { selectRules } from './rule-keywords.ts';
import { findTokens } from './token-rules.ts';

/** A secret in a file, described so that it is safe to print. */
export interface SecretFinding {
  /** The name of a custom rule, or of a rule of the secretlint preset without its prefix. */
  readonly rule: string;
  /** From 1; `null` in a binary file. */
  readonly line: number | null;
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
 * @returns at most 20 findings; those in a text are in the order of its lines.
 */
export async function findSecrets(
  file: SearchedFile,
  signal: AbortSignal,
  harmless: ReadonlySet<string> = new Set(),
): Promise<readonly SecretFinding[]> {
  const located = await takeFirst(search(file, signal), ({ fingerprint }) => !harmless.has(fingerprint));
  return addLines(located, file, signal);
}

/**
 * Refuses a file that contains secrets.
 *
 * @param allowed fingerprints of findings that are known to be harmless
 * @throws {DeliveryError} `BAD_FILE` with rule, line and fingerprint of each finding, never with the secret.
 * @see protocol 1 (file rules: secrets), 7 (prohibition 3)
 */
export async function refuseSecrets(
  file: SearchedFile,
  allowed: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const harmless = new Set(allowed.map((fingerprint) => fingerprint.trim().toLowerCase()));
  const findings = await findSecrets(file, signal, harmless);
  if (findings.length === 0) return;
  const list = findings.map(({ rule, line, fingerprint }) => {
    return `${rule}${line === null ? '' : ` in line ${line}`} (fingerprint ${fingerprint})`;
  });
  const fingerprints = [...new Set(findings.map(({ fingerprint }) => fingerprint))];
  throw new DeliveryError(
    'BAD_FILE',
    `the file ${file.name} contains what looks like a secret: ${list.join(', ')}`,
    {
      hint: `remove it from the file and revoke it, or, if it is known to be harmless, set \`allow-secret: ${fingerprints.join(' ')}\``,
    },
  );
}

/** A secret in a short text, such as an input or a file name. The secret itself must not be printed. */
export interface TextSecret {
  readonly rule: string;
  readonly secret: string;
  readonly fingerprint: string;
}

/** Searches a short text. */
export async function findSecretsInText(text: string): Promise<readonly TextSecret[]> {
  const rules = selectRules(Buffer.from(text));
  if (rules.size === 0) return [];
  const findPresetMatches = await loadPresetRules('.txt');
  const blockText = { text, from: 0, to: text.length };
  const matches = await findMatches({ blockText, rules }, findPresetMatches);
  return Promise.all(
    matches.map(async (match) => ({
      rule: match.rule,
      secret: match.secret,
      fingerprint: await fingerprint(match),
    })),
  );
}

/** A finding whose line is not yet known. */
interface LocatedFinding extends Omit<SecretFinding, 'line'> {
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
  const decoders = file.binary ? [decodeAscii, decodeUtf16] : [decodeText];
  const decodeEmbedded = createEmbeddedDecoder(file.binary);
  const findAll = createMatchFinder(extname(file.name).toLowerCase());
  for await (const block of readBlocks(readPieces(file, signal))) {
    const container = block.offset === 0 ? findKeyContainer(block.bytes) : null;
    if (container !== null) {
      const { rule } = container;
      yield { rule, fingerprint: await fingerprint(container), blockOffset: 0, linesInBlock: 0 };
    }
    for (const decode of decoders) {
      const candidate = decode(block);
      for (const match of await findAll(candidate)) {
        yield {
          rule: match.rule,
          fingerprint: await fingerprint(match),
          blockOffset: block.offset,
          linesInBlock: countNewlines(candidate?.blockText.text ?? '', match.at),
        };
      }
    }
    const embedded = decodeEmbedded(block);
    for (const match of await findAll(embedded && decodeContent(embedded))) {
      const position = embedded?.positionOf(match.from) ?? 0;
      if (position < block.from || position >= block.to || isPlainAt(block, position, match)) continue;
      yield {
        rule: match.rule,
        fingerprint: await fingerprint(match),
        blockOffset: block.offset,
        linesInBlock: countNewlineBytes(block.bytes, 0, position),
      };
    }
  }
}

/** Beside what is escaped, a word may have a secret as it is: that was found before. */
const isPlainAt = ({ bytes }: FileBlock, position: number, { secret }: SecretMatch): boolean =>
  bytes.toString('latin1', position, position + secret.length) === secret;

/** Finds the matches in a text; the preset's rules are loaded for the first text that needs them. */
function createMatchFinder(extension: string): (candidate: CandidateText | null) => Promise<SecretMatch[]> {
  let findPresetMatches: FindPresetMatches | undefined;
  return async (candidate) => {
    if (candidate === null) return [];
    findPresetMatches ??= await loadPresetRules(extension);
    return findMatches(candidate, findPresetMatches);
  };
}

/** A text, and the rules that may find a secret in it. */
interface CandidateText {
  readonly blockText: BlockText;
  readonly rules: ReadonlySet<string>;
}

/** Decodes a block; returns `null` if no rule can find anything in it. */
type DecodeBlock = (block: FileBlock) => CandidateText | null;

const decodeText: DecodeBlock = (block) => createCandidate(selectRules(block.bytes), () => decodeUtf8(block));
const decodeAscii: DecodeBlock = (block) =>
  createCandidate(selectRules(block.bytes), () => extractAsciiStrings(block));
const decodeUtf16: DecodeBlock = (block) => {
  const blockText = extractUtf16Strings(block);
  return createCandidate(selectRules(Buffer.from(blockText.text, 'latin1')), () => blockText);
};

/** Each byte becomes one character, so that positions stay the same. */
const decodeContent = ({ bytes }: DecodedPart): CandidateText | null =>
  createCandidate(selectRules(bytes), () => ({ text: bytes.toString('latin1'), from: 0, to: bytes.length }));

const createCandidate = (rules: ReadonlySet<string>, decode: () => BlockText): CandidateText | null =>
  rules.size === 0 ? null : { blockText: decode(), rules };

/** The matches that begin in the range of the block, each secret under one rule. */
async function findMatches(
  { blockText: { text, from, to }, rules }: CandidateText,
  findPresetMatches: FindPresetMatches,
): Promise<SecretMatch[]> {
  const distinct: SecretMatch[] = [];
  for (const match of [
    ...(await findPresetMatches(text, rules)),
    ...findCustomMatches(text, rules),
    ...findTokens(text, rules),
  ]) {
    if (!distinct.some((known) => overlaps(match, known))) distinct.push(match);
  }
  return distinct
    .filter((match) => match.from >= from && match.from < to)
    .sort((one, other) => one.at - other.at);
}

/** Whether two rules found the same secret. A match of the whole file does not hide the others. */
function overlaps(match: SecretMatch, known: SecretMatch): boolean {
  if (known.rule === WHOLE_FILE_RULE) return false;
  return match.at < known.at + known.secret.length && known.at < match.at + match.secret.length;
}

/** The rule of the preset whose secret is the whole file: the key file of a service account. */
const WHOLE_FILE_RULE = 'gcp';

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
  return located.map(({ rule, fingerprint, linesInBlock }, index) => {
    const line = file.binary ? null : 1 + (linesBefore[index] ?? 0) + linesInBlock;
    return { rule, line, fingerprint };
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
