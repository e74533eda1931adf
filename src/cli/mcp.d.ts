/** The MCP server: a bundle of its own, `dist/mcp.js` beside `dist/cli.js`, so that no other command loads it. */
export { startServer } from '../mcp/serve.ts';
