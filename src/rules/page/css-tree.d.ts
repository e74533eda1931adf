/**
 * The parts of css-tree that are used here, imported by their own path: they bring neither the library's
 * dictionaries nor its grammar along, and its published types describe only the whole.
 */
declare module 'css-tree/tokenizer' {
  export function tokenize(source: string, see: (type: number, start: number, end: number) => void): void;
  export const AtKeyword: number;
  export const Comment: number;
  export const LeftCurlyBracket: number;
  export const LeftParenthesis: number;
  export const RightParenthesis: number;
  export const Semicolon: number;
  export const Url: number;
  export const WhiteSpace: number;
  const functionToken: number;
  const stringToken: number;

  export { functionToken as Function, stringToken as String };
}

declare module 'css-tree/utils' {
  interface Notation {
    decode(written: string): string;
  }
  export const ident: Notation;
  export const string: Notation;
  export const url: Notation;
}
