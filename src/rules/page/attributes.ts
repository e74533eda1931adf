/** What a tag or an element has: both parsers of pages give them the same form. */
interface WithAttributes {
  readonly attrs: readonly { readonly name: string; readonly value: string }[];
}

export const getAttribute = ({ attrs }: WithAttributes, name: string): string =>
  attrs.find((attribute) => attribute.name === name)?.value ?? '';

export const hasAttribute = ({ attrs }: WithAttributes, name: string): boolean =>
  attrs.some((attribute) => attribute.name === name);

/** The lowercase name of an element without a prefix, which any element may have in XHTML. */
export function getLocalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.slice(lower.indexOf(':') + 1);
}
