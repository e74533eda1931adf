import { scrypt } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { DeliveryError } from '../../errors.ts';
import type { LocalFile } from '../inspect.ts';
import { keyContainer, ownSightings, type Sighting } from './own-secret-rules.ts';
import { loadPreset, type PresetSearch } from './preset-secret-rules.ts';
import { ENCODINGS, printableStrings } from './printable-strings.ts';
import { newlines, type TextWindow, textWindows } from './text-windows.ts';

/** A secret in a file, in words that are safe to print. */
export interface SecretFinding {
  /** A rule of secretlint's preset, without its name space, or one of our own. */
  readonly rule: string;
  /** From 1; `null` in a binary file. */
  readonly line: number | null;
  /** 16 hex digits that are the same wherever the same rule finds the same secret. */
  readonly fingerprint: string;
}

type Searched = Pick<LocalFile, 'name' | 'size' | 'read'>;

/** Nobody reads a longer list. */
const MOST_FINDINGS = 20;

/** What is kept of a file's beginning. */
const HEAD = 8_192;

/**
 * Scans a whole file, text or binary, of any size, in memory bounded by a window of the text.
 * Text is whatever holds no NUL byte; of anything else the printable strings are searched.
 *
 * @returns at most 20 findings, those of a text in the order of its lines.
 */
export async function findSecrets(file: Searched, signal: AbortSignal): Promise<readonly SecretFinding[]> {
  return firstOf(search(file, signal), () => true);
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
  const findings = await firstOf(search(file, signal), ({ fingerprint }) => !known.has(fingerprint));
  if (findings.length === 0) return;
  const list = findings.map(({ rule, line, fingerprint }) => {
    return `${rule}${line === null ? '' : ` in line ${line}`} (fingerprint ${fingerprint})`;
  });
  const fingerprints = [...new Set(findings.map(({ fingerprint }) => fingerprint))];
  throw new DeliveryError('BAD_FILE', `the file holds what looks like a secret: ${list.join(', ')}`, {
    hint: `remove it from the file and revoke it, or, if it is known to be harmless, set \`allow-secret: ${fingerprints.join(' ')}\``,
  });
}

async function firstOf(
  findings: AsyncIterable<SecretFinding>,
  counts: (finding: SecretFinding) => boolean,
): Promise<SecretFinding[]> {
  const first: SecretFinding[] = [];
  for await (const finding of findings) {
    if (!counts(finding)) continue;
    first.push(finding);
    if (first.length === MOST_FINDINGS) break;
  }
  return first;
}

/** Every finding, one after another, as far as somebody asks for more. */
async function* search(file: Searched, signal: AbortSignal): AsyncGenerator<SecretFinding, void, undefined> {
  const fingerprintOf = fingerprints();
  const { binary, head } = await glance(bytesOf(file, signal));
  const container = keyContainer(head);
  if (container !== null)
    yield { rule: container.rule, line: null, fingerprint: await fingerprintOf(container) };
  const preset = await loadPreset(extname(file.name).toLowerCase());
  const texts = binary
    ? Object.values(ENCODINGS).map((encoding) => printableStrings(bytesOf(file, signal), encoding))
    : [decoded(bytesOf(file, signal))];
  for (const text of texts) {
    for await (const window of textWindows(text)) {
      for (const sighting of await sightingsIn(window, preset)) {
        const line = binary ? null : window.line + newlines(window.text, sighting.at);
        yield { rule: sighting.rule, line, fingerprint: await fingerprintOf(sighting) };
      }
    }
  }
}

/** What begins in the window's own share, each secret under one rule. */
async function sightingsIn({ text, from, to }: TextWindow, preset: PresetSearch): Promise<Sighting[]> {
  const named: Sighting[] = [];
  for (const one of [...(await preset(text)), ...ownSightings(text)]) {
    if (!named.some((other) => isWithin(one, other))) named.push(one);
  }
  return named.filter((one) => one.from >= from && one.from < to).sort((one, other) => one.at - other.at);
}

/** Whether two rules saw the same secret; a rule that condemns a whole file does not hide the others. */
function isWithin(one: Sighting, other: Sighting): boolean {
  if (other.rule === WHOLE_FILE) return false;
  return one.at < other.at + other.secret.length && other.at < one.at + one.secret.length;
}

/** The rule of the preset whose secret is all that the file holds: a service account's key. */
const WHOLE_FILE = 'gcp';

async function* bytesOf(file: Searched, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of file.read() as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    yield chunk;
  }
}

/** Reads until the first NUL byte, which makes a file binary, and keeps the beginning. */
async function glance(bytes: AsyncIterable<Buffer>): Promise<{ binary: boolean; head: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  let binary = false;
  for await (const chunk of bytes) {
    if (head.length < HEAD) head = Buffer.concat([head, chunk]).subarray(0, HEAD);
    binary ||= chunk.includes(0);
    if (binary && head.length === HEAD) break;
  }
  return { binary, head };
}

async function* decoded(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

const derive = promisify<string, string, number, Buffer>(scrypt);

/** Fingerprints take a while each, so that a weak password can't be guessed from a printed one. */
function fingerprints(): (sighting: Sighting) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return ({ rule, secret }) => {
    const key = `${rule}\0${secret}`;
    const made = known.get(key) ?? derive(secret, rule, 8).then((hash) => hash.toString('hex'));
    known.set(key, made);
    return made;
  };
}
