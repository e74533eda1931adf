import { parse } from 'es-module-lexer/minimal/js';
import type { FoundAddress } from './addresses.ts';

/**
 * Addresses in a script: what a module imports statically, and, perhaps loaded later, the literal addresses of
 * `import()` and those with a host in other calls. Which code runs, and when, is not guessed. The bare name of a module
 * is an address only for an import map.
 */
export function findScriptReferences(code: string, isModule: boolean): FoundAddress[] {
  return [...findImports(code, isModule), ...findCalls(code)].sort((one, other) => one.offset - other.offset);
}

function findImports(code: string, isModule: boolean): FoundAddress[] {
  if (!/import|export/.test(code)) return [];
  return lexImports(code).flatMap(({ n: address, s: offset, d: call }): FoundAddress[] => {
    if (address === undefined) return [];
    const isStatic = call === -1;
    if (isStatic && !isModule) return [];
    return [{ offset, address, kind: 'module', grade: isStatic ? 'code' : 'later', isSpecifier: true }];
  });
}

/** What the lexer can't read, a browser can't run. */
function lexImports(code: string): ReturnType<typeof parse>[0] {
  try {
    return parse(code)[0];
  } catch {
    return [];
  }
}

/** A call or assignment that loads something, with an address that has a host, as far as it is written there. */
const CALL =
  /(?:\b(?:fetch|Request|Worker|SharedWorker|importScripts|EventSource|WebSocket|sendBeacon)\s*\(\s*|\.open\s*\(\s*["'`]\w+["'`]\s*,\s*|\.src\s*=\s*)["'`]((?:https?:|wss?:)?\/\/[^"'`\s\\$]+)/g;

function findCalls(code: string): FoundAddress[] {
  return Array.from(code.matchAll(CALL), (call): FoundAddress => {
    const [found, address = ''] = call;
    const offset = call.index + found.length - address.length;
    return { offset, address, kind: 'data', grade: 'later' };
  });
}
