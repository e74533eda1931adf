import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { OUTPUTS } from '../../src/action/output-texts.ts';
import { parseCommand } from '../../src/cli/args.ts';
import { CLI_COMMANDS } from '../../src/request/commands.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json'));

/** The commands in a document, each as its arguments. */
const listCommands = (text: string): string[][] =>
  [...text.matchAll(/npx (?:--yes )?screen-delivery ([^`\n]+)/g)].map(([, line = '']) =>
    [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain),
  );

/** @see https://agentskills.io/specification */
describe('the skill', () => {
  const [, frontmatter = '', body = ''] =
    /^---\n(.*?)\n---\n(.*)$/s.exec(read('skills/screen-delivery/SKILL.md')) ?? [];
  const fields = parse(frontmatter);

  test('has the fields of the Agent Skills specification, within their limits', () => {
    expect(fields.name).toBe('screen-delivery');
    expect(fields.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(fields.description.length).toBeLessThanOrEqual(1024);
    expect(fields.description).toMatch(/Use when/);
    expect(fields.compatibility.length).toBeLessThanOrEqual(500);
    const known = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];
    expect(Object.keys(fields).filter((name) => !known.includes(name))).toEqual([]);
    expect(body.split('\n').length).toBeLessThan(500);
  });

  test('names only commands that the command line understands', () => {
    const commands = listCommands(body);
    expect(commands.length).toBeGreaterThan(5);
    const names = commands.map((args) => parseCommand(args).name);
    expect(new Set(names)).toEqual(new Set(['deliver', 'verify', 'withdraw', 'check', 'contract']));
  });

  test('asks no question, replaces nothing of others, and says how a bin is withdrawn', () => {
    expect(body).not.toMatch(/npx (?!--yes )/);
    const [first = []] = listCommands(body);
    expect(first[first.indexOf('--path') + 1]).toMatch(/^agent\/\d{4}-\d\d-\d\d-\w+\.html$/);
    expect(body).not.toContain('one file');
    expect(body).toMatch(/`NO_TOKEN`.*to withdraw from the file-bin, give .*`--url`/);
    expect(fields.compatibility).toContain(`Node.js ${manifest.engines.node.slice(2)} or newer`);
  });
});

test.each(['README.md', 'docs/agents.md'])(
  '%s names only commands that the command line understands',
  (document) => {
    const commands = listCommands(read(document)).filter(([name]) => name !== '<command>');
    expect(commands.map((args) => parseCommand(args).name)).toContain('deliver');
  },
);

/** @see https://github.com/modelcontextprotocol/registry (docs/reference/server-json) */
describe('server.json', () => {
  const server = JSON.parse(read('server.json'));
  const [entry, ...others] = server.packages;

  test('names the package of package.json, which names the server', () => {
    expect(others).toEqual([]);
    expect(server.name).toBe(manifest.mcpName);
    expect(server.name).toMatch(/^io\.github\.[\w-]+\/[\w-]+$/);
    expect(`git+${server.repository.url}.git`).toBe(manifest.repository.url);
    expect([server.version, entry.version, entry.identifier]).toEqual([
      manifest.version,
      manifest.version,
      manifest.name,
    ]);
    expect(server.description.length).toBeLessThanOrEqual(100);
  });

  test('starts the MCP server over stdio; the token comes from the environment', () => {
    expect(entry).toMatchObject({ registryType: 'npm', transport: { type: 'stdio' } });
    expect(entry.packageArguments).toEqual([
      { type: 'positional', value: 'mcp' },
      expect.objectContaining({ type: 'named', name: '--root', isRequired: true }),
    ]);
    expect(Object.keys(CLI_COMMANDS)).toContain('mcp');
    expect(entry.environmentVariables).toEqual([
      expect.objectContaining({ name: 'GITHUB_TOKEN', isSecret: true, isRequired: false }),
    ]);
  });
});

describe('the narrow action for agents', () => {
  const action = parse(read('agent/action.yml'));

  test('exposes only the name, the content and the marker', () => {
    expect(Object.keys(action.inputs)).toEqual(['name', 'content', 'marker']);
    expect(JSON.stringify(action.inputs)).not.toContain('default');
    expect(Object.keys(action.outputs).filter((name) => !Object.hasOwn(OUTPUTS, name))).toEqual([]);
  });

  test('runs a file that exists, on the Node of the action', () => {
    expect(action.runs).toEqual({ using: parse(read('action.yml')).runs.using, main: 'index.js' });
    expect(read('agent/index.js')).toContain("import('../dist/index.js')");
  });
});
