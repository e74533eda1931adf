import { SITE } from './protocol/limits.ts';

/** The first of many names, and how many more there are. */
export function nameFew(names: readonly string[]): string {
  const more = names.length - SITE.named;
  return names.slice(0, SITE.named).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * Characters that change the order or the direction of the text around them, or that cannot be seen. Those that
 * join letters and choose the form of an emoji stay.
 */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** The text with a readable escape, such as `\u202e`, for each bidirectional or invisible character. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}

/** A number of files in words. */
export const countFiles = (count: number): string => `${count} file${count === 1 ? '' : 's'}`;
