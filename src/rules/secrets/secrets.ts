import { scrypt } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { DeliveryError } from '../../errors.ts';
import type { LocalFile } from '../inspect.ts';
import { type FileBlock, readBlocks } from './blocks.ts';
import { linesBefore, newlines } from './lines.ts';
import { markedRules } from './marks.ts';
import { findOwnMatches, keyContainer, type SecretMatch } from './own-secret-rules.ts';
import { loadPreset, type PresetSearch } from './preset-secret-rules.ts';
import { asciiStrings, asText, type BlockText, utf16Strings } from './readings.ts';

/** A secret in a file, in words that are safe to print. */
export interface SecretFinding {
  /** A rule of secretlint's preset, without its name space, or one of our own. */
  readonly rule: string;
  /** From 1; `null` in a binary file. */
  readonly line: number | null;
  /** 16 hex digits that are the same wherever the same rule finds the same secret. */
  readonly fingerprint: string;
}

type Searched = Pick<LocalFile, 'name' | 'binary' | 'pieces'>;

/** Nobody reads a longer list. */
const MOST_FINDINGS = 20;

/**
 * Scans a whole file, text or binary, of any size, in memory bounded by a block of it.
 * Text is whatever holds no NUL byte; of anything else the printable strings are searched.
 *
 * @returns at most 20 findings, those of a text in the order of its lines.
 */
export async function findSecrets(file: Searched, signal: AbortSignal): Promise<readonly SecretFinding[]> {
  return withLines(await firstOf(search(file, signal), () => true), file, signal);
}

/**
 * @param allowed fingerprints of findings that are known to be harmless
 * @throws {DeliveryError} `BAD_FILE` naming rule, line and fingerprint of each finding, never the secret.
 * @see protocol 1 (file rules: secrets), 7 (prohibition 3)
 */
export async function refuseSecrets(
  file: Searched,
  allowed: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const known = new Set(allowed.map((fingerprint) => fingerprint.trim().toLowerCase()));
  // Allowed findings don't use up the list's length: the search goes on behind any number of them.
  const found = await firstOf(search(file, signal), ({ fingerprint }) => !known.has(fingerprint));
  if (found.length === 0) return;
  const findings = await withLines(found, file, signal);
  const list = findings.map(({ rule, line, fingerprint }) => {
    return `${rule}${line === null ? '' : ` in line ${line}`} (fingerprint ${fingerprint})`;
  });
  const fingerprints = [...new Set(findings.map(({ fingerprint }) => fingerprint))];
  throw new DeliveryError('BAD_FILE', `the file holds what looks like a secret: ${list.join(', ')}`, {
    hint: `remove it from the file and revoke it, or, if it is known to be harmless, set \`allow-secret: ${fingerprints.join(' ')}\``,
  });
}

/** A secret before anybody has asked for its line. */
interface LocatedFinding extends Omit<SecretFinding, 'line'> {
  /** Where in the file the block begins in which it was seen, and the lines that end between there and it. */
  readonly block: number;
  readonly lines: number;
}

async function firstOf(
  findings: AsyncIterable<LocatedFinding>,
  counts: (finding: LocatedFinding) => boolean,
): Promise<LocatedFinding[]> {
  const first: LocatedFinding[] = [];
  for await (const finding of findings) {
    if (!counts(finding)) continue;
    first.push(finding);
    if (first.length === MOST_FINDINGS) break;
  }
  return first;
}

/** Every finding, one after another, as far as somebody asks for more. */
async function* search(file: Searched, signal: AbortSignal): AsyncGenerator<LocatedFinding, void, undefined> {
  const fingerprintOf = fingerprints();
  const views = file.binary ? [asciiView, utf16View] : [textView];
  let preset: PresetSearch | undefined;
  for await (const block of readBlocks(watched(file, signal))) {
    const container = block.offset === 0 ? keyContainer(block.bytes) : null;
    if (container !== null) {
      yield { rule: container.rule, fingerprint: await fingerprintOf(container), block: 0, lines: 0 };
    }
    for (const view of views) {
      const marked = view(block);
      if (marked === null) continue;
      preset ??= await loadPreset(extname(file.name).toLowerCase());
      for (const sighting of await sightingsIn(marked, preset)) {
        const fingerprint = await fingerprintOf(sighting);
        const lines = newlines(marked.reading.text, sighting.at);
        yield { rule: sighting.rule, fingerprint, block: block.offset, lines };
      }
    }
  }
}

/** A text and the rules that may find something in it. */
interface MarkedText {
  readonly reading: BlockText;
  readonly rules: ReadonlySet<string>;
}

/** A block as a text that some rule should look at; `null` where none would find anything. */
type BlockView = (block: FileBlock) => MarkedText | null;

const textView: BlockView = (block) => marked(markedRules(block.bytes), () => asText(block));
const asciiView: BlockView = (block) => marked(markedRules(block.bytes), () => asciiStrings(block));
const utf16View: BlockView = (block) => {
  const reading = utf16Strings(block);
  return marked(markedRules(Buffer.from(reading.text, 'latin1')), () => reading);
};

const marked = (rules: ReadonlySet<string>, read: () => BlockText): MarkedText | null =>
  rules.size === 0 ? null : { reading: read(), rules };

/** What begins in the block's own share, each secret under one rule. */
async function sightingsIn({ reading, rules }: MarkedText, preset: PresetSearch): Promise<SecretMatch[]> {
  const { text, from, to } = reading;
  const named: SecretMatch[] = [];
  for (const one of [...(await preset(text, rules)), ...findOwnMatches(text, rules)]) {
    if (!named.some((other) => isWithin(one, other))) named.push(one);
  }
  return named.filter((one) => one.from >= from && one.from < to).sort((one, other) => one.at - other.at);
}

/** Whether two rules saw the same secret; a rule that condemns a whole file does not hide the others. */
function isWithin(one: SecretMatch, other: SecretMatch): boolean {
  if (other.rule === WHOLE_FILE) return false;
  return one.at < other.at + other.secret.length && other.at < one.at + one.secret.length;
}

/** The rule of the preset whose secret is all that the file holds: a service account's key. */
const WHOLE_FILE = 'gcp';

async function* watched({ pieces }: Searched, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of pieces()) {
    signal.throwIfAborted();
    yield piece;
  }
}

/** Gives findings their lines, which are counted only where there is something to tell. */
async function withLines(
  found: readonly LocatedFinding[],
  file: Searched,
  signal: AbortSignal,
): Promise<readonly SecretFinding[]> {
  const before = await linesBefore(watched(file, signal), file.binary ? [] : found.map(({ block }) => block));
  return found.map(({ rule, fingerprint, lines }, nth) => {
    const line = file.binary ? null : 1 + (before[nth] ?? 0) + lines;
    return { rule, line, fingerprint };
  });
}

const derive = promisify<string, string, number, Buffer>(scrypt);

/** Fingerprints take a while each, so that a weak password can't be guessed from a printed one. */
function fingerprints(): (sighting: SecretMatch) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return ({ rule, secret }) => {
    const key = `${rule}\0${secret}`;
    const made = known.get(key) ?? derive(secret, rule, 8).then((hash) => hash.toString('hex'));
    known.set(key, made);
    return made;
  };
}
