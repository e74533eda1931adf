import { isHtml } from '../page/page-file.ts';
import type { FoundGenerator } from './generators.ts';

/** An address that a page uses while it opens. */
interface BaseReference {
  /** The file that has it. */
  readonly file: string;
  /** What uses it, such as `script`. */
  readonly element: string;
}

/** What the addresses of a site show of the base path for which it was built. */
export interface BaseEvidence {
  /** An absolute address leads into the folder. */
  hasRightAddress: boolean;
  /** A page loads a script or style sheet of the folder. */
  hasRightCode: boolean;
  /** An address of a script or style sheet in a page, or of a module in a script, leads out of the folder. */
  hasWrongCode: boolean;
  /** The files that have an address with the wrong base. */
  readonly wrongFiles: Set<string>;
}

export const createBaseEvidence = (): BaseEvidence => ({
  hasRightAddress: false,
  hasRightCode: false,
  hasWrongCode: false,
  wrongFiles: new Set(),
});

/** Notes an address that leads into the folder. */
export function noteRightBase(evidence: BaseEvidence, reference: BaseReference, isAbsolute: boolean): void {
  if (!isHtml(reference.file)) return;
  evidence.hasRightCode ||= isCode(reference);
  evidence.hasRightAddress ||= isAbsolute;
}

/** Notes an address that would lead into the folder if the base were another one. */
export function noteWrongBase(evidence: BaseEvidence, reference: BaseReference): void {
  evidence.hasWrongCode ||= isCode(reference);
  evidence.wrongFiles.add(reference.file);
}

/** Generators write the addresses of the scripts, modules and style sheets; others may be copied as they are. */
const isCode = ({ file, element }: BaseReference): boolean =>
  isHtml(file) ? element === 'script' || element === 'link' : element === 'import';

/** What to change so that the addresses of a site lead into its folder, at `base` with a slash at both ends. */
export function describeBase(
  generator: FoundGenerator | null,
  { hasRightAddress, hasRightCode, hasWrongCode }: BaseEvidence,
  base: string,
): string {
  if (hasRightAddress || (hasRightCode && !hasWrongCode)) {
    // A common name is no reason to name anybody.
    const isKnown = generator !== null && (generator.isNamed || !generator.isCommon);
    const cause = !isKnown ? '' : `, so ${generator.name} has copied this one as it was written`;
    return `other addresses lead into the folder${cause}: make it relative to its file, or let it begin with \`${base}\``;
  }
  if (generator === null) {
    return `use addresses relative to the page (\`./assets/…\`), or set the base path of the generator to \`${base}\``;
  }
  const setting = generator.setting(base);
  if (generator.isNamed) return `the folder was made by ${generator.name}: set ${setting}`;
  const other = generator.isCommon ? '; or use addresses relative to the page' : '';
  return `the folder looks like the output of ${generator.name}: set ${setting}${other}`;
}
