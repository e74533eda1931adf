import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { actionYml, contractJson } from '../../scripts/documents.ts';
import { machineContract } from '../../src/protocol/contract.ts';
import { TOOL } from '../../src/protocol/words.ts';
import { ANSWER_RULE, CLI_COMMANDS, EXIT_CODES, FLAGS } from '../../src/request/commands.ts';
import { INPUTS, OUTPUTS } from '../../src/request/inputs.ts';

/** The repository's own file. */
const atRoot = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The contract as an agent reads it. */
const contract = JSON.parse(contractJson());
const { channels } = contract;
const K1 = channels.K1_github_pages;

describe('the machine contract has the fields of protocol 2.1', () => {
  test('at the top level', () => {
    const fields = ['protocol', 'version', 'goal', 'not_delivery', 'channels', 'gates', 'file_rules'];
    expect(Object.keys(machineContract())).toEqual(fields);
    expect(Object.keys(contract)).toEqual([...fields, 'tool']);
  });

  test('in its parts', () => {
    const { K2_release_assets: K2, K3_filebin: K3 } = channels;
    const parts = { channels, K1, auth: K1.auth, api: K1.api, K2, K3, rules: contract.file_rules };
    const fields = Object.entries(parts).map(([name, part]) => `${name}: ${Object.keys(part).join(' ')}`);
    expect(fields).toEqual([
      'channels: K1_github_pages K2_release_assets K3_filebin K4_native',
      'K1: repo branch pages_base raw_base auth api',
      'auth: method client_id scope device_code token user_entry token_rules',
      'api: get_file put_file_le1mb blob tree commit ref pages_latest',
      'K2: create upload limits',
      'K3: post get rules',
      'rules: on_screen for_machine naming size secrets',
    ]);
  });

  test('and every value that is not an object or an array is a text that is not empty', () => {
    const listLeaves = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(listLeaves) : [value];
    for (const leaf of listLeaves(contract)) expect(leaf).toEqual(expect.stringMatching(/\S/));
  });
});

describe('the machine contract says what the protocol says', () => {
  test('about its name, gates and what is not a delivery', () => {
    expect(contract).toMatchObject({ protocol: 'GITHUB-SCREEN-DELIVERY', version: '1.1' });
    expect(contract.gates).toEqual([
      'G1_выложено',
      'G2_финальный_URL',
      'G3_VERIFY_200_и_маркер',
      'G4_REPORT',
    ]);
    expect(contract.not_delivery).toHaveLength(4);
  });

  test('about K1 and its credentials', () => {
    expect(K1).toMatchObject({ repo: '<owner>/<repo>', branch: 'main' });
    expect(K1.auth).toMatchObject({
      method: 'github_device_flow',
      scope: 'repo',
      user_entry: '{auth_url}/login/device',
    });
    expect(K1.auth.token_rules).toMatch(/memory only, never in files, commits, reports or logs/);
  });

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

  test.each([
    ['the build is polled 48 times, 5 s apart', K1.api.pages_latest, 'at most 48 polls 5 s apart'],
    ['an asset takes 2 GB', channels.K2_release_assets.limits, '2 GB per asset'],
    ['a post to the bin must answer 201', channels.K3_filebin.post, '201 is asserted'],
    ['a redirect from the bin is normal', channels.K3_filebin.get, '302 then 200 is normal'],
    ['a bin lives 7 days and is public', channels.K3_filebin.rules, 'about 7 days, public to anyone'],
    ['no secret goes to a bin', channels.K3_filebin.rules, 'never for secrets'],
    ['a native link is an external https one', channels.K4_native, 'real external https:// URL'],
    ['or there is an honest refusal', channels.K4_native, 'honest refusal'],
    ['the content-write call takes 1 MB', contract.file_rules.size, 'up to 1 MB by the content-write call'],
    ['the object API takes 95 MB', contract.file_rules.size, 'by the object API up to 95 MB'],
    ['anything larger goes elsewhere', contract.file_rules.size, 'above 95 MB K2 or K3'],
    ['a page for the screen is one .html', contract.file_rules.on_screen, 'one self-contained .html file'],
    ['a file for machines is .md', contract.file_rules.for_machine, '.md'],
    ['names have no spaces', contract.file_rules.naming, 'no spaces'],
    ['secrets stay out', contract.file_rules.secrets, 'no tokens, cookies, passwords or personal data'],
  ])('about the limits and rules: %s', (_title, text, part) => {
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

  test('says of every error code what it means and what to do', () => {
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
    expect(tool.flags['--channel VALUE']).toMatch(/`auto` goes by .*without a token K3/);
    expect(tool.flags_of['withdraw, audit, check']).toMatch(/^It takes every flag of deliver/);
    expect(tool.flags_of.verify).toContain('--file');
    expect(atRoot('README.md')).toContain(ANSWER_RULE);
  });

  test('has no word of a workflow', () => {
    expect(JSON.stringify(tool)).not.toMatch(/permissions: \{|\$\{\{|`(?:path|channel|overwrite): /);
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
