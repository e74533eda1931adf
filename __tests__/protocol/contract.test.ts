import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { actionYml, contractJson } from '../../scripts/documents.ts';
import { OUTPUTS } from '../../src/action/output-texts.ts';
import { machineContract } from '../../src/protocol/contract.ts';
import { GATES, NOT_DELIVERY, PROTOCOL, TOOL } from '../../src/protocol/words.ts';
import { ANSWER_RULE, CLI_COMMANDS, EXIT_CODES, FLAGS } from '../../src/request/commands.ts';
import { INPUTS } from '../../src/request/inputs.ts';

/** The repository's own file. */
const atRoot = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The contract as an agent reads it. */
const contract = JSON.parse(contractJson());
const { channels } = contract;
const K1 = channels.K1_github_pages;

test('the machine contract has the fields of protocol 2.1', () => {
  const fields = ['protocol', 'version', 'goal', 'not_delivery', 'channels', 'gates', 'file_rules'];
  expect(Object.keys(machineContract())).toEqual(fields);
  expect(Object.keys(contract)).toEqual([...fields, 'tool']);
  const { identifier: protocol, version } = PROTOCOL;
  expect(contract).toMatchObject({ protocol, version, gates: GATES, not_delivery: NOT_DELIVERY });
  const parts = [...Object.values<object>(channels).slice(0, 3), K1.auth, K1.api, contract.file_rules];
  expect([channels, ...parts].map((part) => Object.keys(part).join(' '))).toEqual([
    'K1_github_pages K2_release_assets K3_filebin K4_native',
    'repo branch pages_base raw_base auth api',
    'create upload limits',
    'post get rules',
    'method client_id scope device_code token user_entry token_rules',
    'get_file put_file_le1mb blob tree commit ref pages_latest',
    'on_screen for_machine naming size secrets',
  ]);
});

describe('the machine contract matches the protocol', () => {
  const repo = '/repos/<owner>/<repo>';
  test.each([
    [K1.auth.device_code, 'POST {auth_url}/login/device/code'],
    [K1.auth.token, 'POST {auth_url}/login/oauth/access_token'],
    [K1.api.get_file, `GET {api_url}${repo}/contents/{path_urlencoded}?ref=main`],
    [K1.api.put_file_le1mb, `PUT {api_url}${repo}/contents/{path_urlencoded}`],
    [K1.api.blob, `POST {api_url}${repo}/git/blobs`],
    [K1.api.tree, `POST {api_url}${repo}/git/trees`],
    [K1.api.commit, `POST {api_url}${repo}/git/commits`],
    [K1.api.ref, `GET {api_url}${repo}/git/ref/heads/main`],
    [K1.api.ref, `PATCH {api_url}${repo}/git/refs/heads/main`],
    [K1.api.ref, `with \`setup\` also POST {api_url}${repo}/git/refs`],
    [K1.api.pages_latest, `with \`setup\` also POST {api_url}${repo}/pages`],
    [K1.api.pages_latest, `GET {api_url}${repo}/pages/builds/latest`],
    [channels.K2_release_assets.create, `POST {api_url}${repo}/releases`],
    [channels.K2_release_assets.upload, `POST {upload_url}${repo}/releases/{id}/assets?name={file}`],
    [channels.K3_filebin.post, 'POST {bin_host_url}/{bin}/{filename}'],
    [channels.K3_filebin.get, 'GET {bin_host_url}/{bin}/{filename}'],
  ])('about the API: %s', (printed, call) => {
    // A call ends where its body, a note or the next call begins.
    expect(printed.split(/ \(|; |, /)).toContain(call);
  });

  const { K2_release_assets: K2, K3_filebin: K3, K4_native: K4 } = channels;
  const { size } = contract.file_rules;
  test.each([
    [K1.api.pages_latest, 'at most 48 polls 5 s apart'],
    [K2.limits, '2 GB per asset'],
    [K3.post, '201 is asserted'],
    [K3.rules, 'about 7 days, public to anyone'],
    [K4, 'honest refusal'],
    [size, 'up to 1 MB by the content-write call'],
    [size, 'by the object API up to 95 MB'],
  ])('about the limits and rules: %s', (text, part) => {
    expect(text).toContain(part);
  });
});

describe('the section on how to call this tool', () => {
  const { tool } = contract;

  test('names every command, flag, exit code and field of the answer', () => {
    expect(Object.keys(tool.commands).map((usage) => usage.split(' ')[0])).toEqual(Object.keys(CLI_COMMANDS));
    for (const name of FLAGS) expect(Object.keys(tool.flags).join(' ')).toContain(`--${name}`);
    expect(tool.exit_codes).toEqual(Object.fromEntries(Object.entries(EXIT_CODES)));
    const schema = JSON.parse(atRoot(tool.answer.schema));
    expect(Object.keys(tool.answer.fields)).toEqual(Object.keys(schema.properties));
  });

  test('explains every error code and what to do', () => {
    const schema = JSON.parse(atRoot('report.schema.json'));
    expect(Object.keys(tool.error_codes).sort()).toEqual([...schema.$defs.ErrorCode.enum].sort());
    for (const code of Object.values<Record<string, string>>(tool.error_codes)) {
      expect(code).toEqual({
        meaning: expect.stringMatching(/^[A-Z].{10,}\.$/),
        action: expect.stringMatching(/^[A-Z].{8,}\.$/),
      });
    }
  });

  test('gives the rule for agents, which the README gives as well', () => {
    expect(tool.answer.rule).toBe(ANSWER_RULE);
    expect(tool.first).toMatch(/^npx --yes /);
    // What an agent had to guess: how a bin is withdrawn, what `auto` does, and what other commands take.
    expect(tool.commands['withdraw [FILE…]']).toContain('in --bin');
    expect(tool.flags['--channel VALUE']).toMatch(/`auto` takes .*K3 without a token/);
    expect(tool.flags_of['withdraw, audit, list, check']).toMatch(/^It accepts every flag of deliver/);
    expect(tool.flags_of.verify).toContain('--file');
    expect(atRoot('README.md')).toContain(ANSWER_RULE);
  });
});

describe('the generated files are current (if not, run `npm run build:documents`)', () => {
  test('contract.json', () => {
    expect(atRoot('contract.json')).toBe(contractJson());
    expect(contract).toMatchObject(machineContract());
  });

  test('action.yml, with exactly the inputs and outputs of the sources', () => {
    expect(atRoot('action.yml')).toBe(actionYml());
    const { inputs, outputs, runs } = parse(actionYml());
    const given = Object.entries(INPUTS).map(([name, { description, default: usual }]) => {
      return [name, { description, required: false, default: usual }] as const;
    });
    expect(inputs).toEqual(Object.fromEntries(given));
    const told = Object.entries(OUTPUTS).map(([name, description]) => [name, { description }] as const);
    expect(outputs).toEqual(Object.fromEntries(told));
    expect(runs).toEqual({ using: 'node24', main: 'dist/index.js' });
  });

  test('the tool has the name, the version and the Node of package.json', () => {
    const { name, version, engines } = JSON.parse(atRoot('package.json'));
    expect(TOOL).toEqual({ name, version, node: engines.node });
  });
});
