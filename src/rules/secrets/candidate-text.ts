import { type BlockText, decodeUtf8, extractAsciiStrings, extractUtf16Strings } from './block-text.ts';
import { findCustomMatches, type SecretMatch } from './custom-rules.ts';
import { decodeEmbedded } from './embedded.ts';
import { countNewlineBytes, countNewlines, type FileBlock } from './file-blocks.ts';
import type { FindPresetMatches } from './preset-rules.ts';
import { selectRules } from './rule-keywords.ts';
import { findTokens } from './token-rules.ts';

/** A text, and the rules that may find a secret in it. */
interface CandidateText {
  readonly text: string;
  readonly rules: ReadonlySet<string>;
  readonly isEmbedded: boolean;
  /** Whether a match begins in the range of the block. */
  readonly isInRange: (match: SecretMatch) => boolean;
  /** Line breaks between the start of the block and a secret, and its column, from 1; `null` where it is encoded. */
  readonly locate: (match: SecretMatch) => { readonly lines: number; readonly column: number | null };
}

/** The texts of a block in which a rule may find something; all others are not even made. */
export function* listCandidates(
  block: FileBlock,
  binary: boolean,
): Generator<CandidateText, void, undefined> {
  const rules = selectRules(block.bytes);
  if (rules.size > 0) yield candidateOf(binary ? extractAsciiStrings(block) : decodeUtf8(block), rules);
  if (binary) {
    const wide = extractUtf16Strings(block);
    const wideRules = selectRules(Buffer.from(wide.text, 'latin1'));
    if (wideRules.size > 0) yield candidateOf(wide, wideRules);
  }
  for (const { bytes, positionOf } of decodeEmbedded(block.bytes)) {
    const partRules = selectRules(bytes);
    if (partRules.size === 0) continue;
    yield {
      // Each byte becomes one character, so that positions stay the same.
      text: bytes.toString('latin1'),
      rules: partRules,
      isEmbedded: true,
      isInRange({ from }) {
        const position = positionOf(from);
        return position >= block.from && position < block.to;
      },
      locate: ({ from }) => ({ lines: countNewlineBytes(block.bytes, 0, positionOf(from)), column: null }),
    };
  }
}

export const candidateOf = ({ text, from, to }: BlockText, rules: ReadonlySet<string>): CandidateText => ({
  text,
  rules,
  isEmbedded: false,
  isInRange: (match) => match.from >= from && match.from < to,
  locate: ({ at }) => ({
    lines: countNewlines(text, at),
    column: at - (at === 0 ? -1 : text.lastIndexOf('\n', at - 1)),
  }),
});

/** The matches in a text in their order, each secret under one rule. */
export async function matchRules(
  { text, rules }: CandidateText,
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
  return distinct.sort((one, other) => one.at - other.at);
}

/** Whether two rules found the same secret. A match of the whole file does not hide the others. */
function overlaps(match: SecretMatch, known: SecretMatch): boolean {
  if (known.rule === WHOLE_FILE_RULE) return false;
  return match.at < known.at + known.secret.length && known.at < match.at + match.secret.length;
}

/** The rule of the preset whose secret is the whole file: the key file of a service account. */
const WHOLE_FILE_RULE = 'gcp';
