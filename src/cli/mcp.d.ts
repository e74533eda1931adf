import type { RawInputs } from '../request/inputs.ts';

/**
 * The MCP server. It is a bundle of its own, `dist/mcp.js` beside `dist/cli.js`, so that no other command loads it.
 * What it exports is `src/mcp/index.ts`; a test holds this to it.
 */
export declare function startServer(settings: {
  readonly root: string;
  readonly fixed: Readonly<Partial<RawInputs>>;
  readonly token: string;
  readonly secrets: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}): Promise<void>;
