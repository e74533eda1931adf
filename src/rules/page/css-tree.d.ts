/** The published types cover only the whole of css-tree. We import parts, to load no dictionaries and no grammar. */
declare module 'css-tree/tokenizer' {
  export function tokenize(source: string, onToken: (type: number, start: number, end: number) => void): void;
  export const AtKeyword: number;
  export const Comment: number;
  export const LeftCurlyBracket: number;
  export const LeftParenthesis: number;
  export const RightCurlyBracket: number;
  export const RightParenthesis: number;
  export const Semicolon: number;
  export const Url: number;
  export const WhiteSpace: number;
  const functionToken: number;
  const stringToken: number;

  export { functionToken as Function, stringToken as String };
}

declare module 'css-tree/utils' {
  interface TokenCodec {
    decode(token: string): string;
  }
  export const ident: TokenCodec;
  export const string: TokenCodec;
  export const url: TokenCodec;
}
