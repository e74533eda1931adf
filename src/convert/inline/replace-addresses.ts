import { type AddAddress, type FoundAddress, isExternal } from '../../rules/page/addresses.ts';
import { joinParts } from './page-files.ts';

interface Replacing {
  /** The address to write instead; `null` to leave it. */
  readonly replace: (found: FoundAddress) => Promise<string | null>;
  /** Writes an address as the text needs it. @param given what it takes the place of */
  readonly write: (address: string, given: string) => string;
}

/** Replaces the addresses in a text, one after the other. */
export async function replaceAddresses(
  text: string,
  find: (add: AddAddress) => void,
  { replace, write }: Replacing,
): Promise<string> {
  const found: FoundAddress[] = [];
  find((one) => isExternal(one.address) && found.push(one));
  const parts: string[] = [];
  let end = 0;
  for (const one of found) {
    const address = await replace(one);
    if (address === null) continue;
    parts.push(text.slice(end, one.offset), write(address, text.slice(one.offset, one.end)));
    end = one.end;
  }
  return joinParts([...parts, text.slice(end)]);
}

const isQuoted = (given: string): boolean => /^["'`]/.test(given);

export const writeInAttribute = (address: string): string => address;

export const writeInStyle = (address: string, given: string): string =>
  isQuoted(given) ? `"${address}"` : `url("${address}")`;

/** The quotes of an `import()` are replaced too, those of an `import` are not. */
export const writeInScript = (address: string, given: string): string =>
  isQuoted(given) ? `"${address}"` : address;
