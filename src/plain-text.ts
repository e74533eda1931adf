import { SITE } from './protocol/limits.ts';

/** The first of many names, and how many more there are. */
export function nameFew(names: readonly string[]): string {
  const more = names.length - SITE.named;
  return names.slice(0, SITE.named).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Characters that change the order or the direction of the text around them, or that cannot be seen. */
const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The text with a readable escape, such as `\u202e`, for each bidirectional or invisible character. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}
