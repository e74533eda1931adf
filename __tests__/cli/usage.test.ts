import { expect, test } from '@jest/globals';
import { usage } from '../../src/cli/usage.ts';
import { CLI_COMMANDS, FLAGS, flagsOf, isSwitch } from '../../src/request/commands.ts';
import { type CommandName, INPUTS } from '../../src/request/inputs.ts';

const COMMANDS = Object.keys(CLI_COMMANDS) as CommandName[];

/** The terms of a help text with their whole meaning, in one line each. */
function readEntries(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  let term = '';
  for (const line of text.split('\n')) {
    const [, first, meaning = ''] = /^ {2}(\S.*?)(?: {2,}(\S.*))?$/.exec(line) ?? [];
    const further = /^ {10,}(\S.*)$/.exec(line)?.[1];
    if (first !== undefined) {
      term = first;
      entries.set(term, meaning);
    } else if (further !== undefined) entries.set(term, `${entries.get(term)} ${further}`);
  }
  return entries;
}

test.each([undefined, ...COMMANDS])('the help of %s fits two screens of 80 columns', (command) => {
  const lines = usage(command).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(60);
  const text = lines.join(' ');
  expect(text).toContain(
    '0 ready, withdrawn, audited, listed or planned; 1 not ready; 2 wrong usage, such as',
  );
  // No expression of the runner, and no flag that takes a token.
  expect(text).not.toMatch(/\$\{\{|--token(?!-env)/);
});

test.each(COMMANDS)('the flags of %s are listed after it, and no others', (command) => {
  const [, flags = ''] = usage(command).split('\nFlags:\n');
  const listed = [...flags.matchAll(/(?<=[\s,(])--([a-z-]+)/g)].map(([, name = '']) => name);
  const taken = flagsOf(command).filter((name) => name !== 'version');
  expect(listed.filter((name) => !taken.includes(name))).toEqual([]);
  // The others refer to it.
  const named = ['withdraw', 'audit', 'list', 'check'].includes(command) ? listed : taken;
  expect([...new Set(listed)].toSorted()).toEqual([...new Set(named)].toSorted());
});

test('flags are explained as the inputs are', () => {
  const entries = readEntries(usage('deliver'));
  const explained = FLAGS.filter((name) => entries.has(`--${name}${isSwitch(name) ? '' : ' VALUE'}`));
  expect(explained.length).toBeGreaterThan(8);
  for (const name of explained) {
    const text = entries.get(`--${name}${isSwitch(name) ? '' : ' VALUE'}`);
    expect(text).toContain(INPUTS[name].description.replaceAll('`', ''));
  }
});

test('the help without a command lists every command with its arguments', () => {
  const entries = readEntries(usage());
  for (const [name, { usage: given, description }] of Object.entries(CLI_COMMANDS)) {
    expect(entries.get(`${name} ${given}`.trim())).toBe(description);
  }
  expect(entries.get('--verbose')).toMatch(/^Print /);
});

test('useful defaults are shown, those of switches are not, and verify has its own', () => {
  const entries = readEntries(usage('deliver'));
  expect(entries.get('--channel VALUE')).toMatch(/\(auto\)$/);
  expect(entries.get('--overwrite')).not.toMatch(/\(false\)/);
  expect(readEntries(usage('verify')).get('--timeout VALUE')).toMatch(/\(30\)$/);
});

test('withdraw and audit explain what an input means there', () => {
  const [withdraw, audit] = [readEntries(usage('withdraw')), readEntries(usage('audit'))];
  expect(withdraw.get('--channel VALUE')).not.toContain('K4');
  expect(audit.get('--channel VALUE')).not.toMatch(/K3|K4/);
  for (const entries of [withdraw, audit]) expect(entries.get('--path VALUE')).toContain('was delivered');
});
