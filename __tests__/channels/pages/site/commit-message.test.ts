import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type DeliveredSite,
  formatCommitMessage,
  parseMessage,
} from '../../../../src/channels/pages/commit-message.ts';

const formatSiteMessage = (site: DeliveredSite, verb: 'ADD' | 'UPDATE', essence: string): string =>
  formatCommitMessage(site.folder, { verb, essence, site });

const formatSiteRemoval = (folder: string, removed: readonly string[], essence: string): string =>
  formatCommitMessage(folder, { verb: 'REMOVE', essence, removed });

/** The site that a message says was delivered to this folder. */
function parseSiteMessage(message: string, folder: string): DeliveredSite | null {
  const { site } = parseMessage(message) ?? {};
  return site?.folder === folder ? site : null;
}

const parseSiteRemoval = (message: string): readonly string[] => parseMessage(message)?.removed ?? [];

const TREE = 'a'.repeat(40);
const FOLDER = 'previews/pr-12/';
const commit = { folder: FOLDER, treeSha: TREE, kept: [] };
const MESSAGE = `ADD pr-12: from run 7\n\nDelivered-by: screen-delivery\nDelivered-tree: ${TREE} previews/pr-12/`;

describe('the message of a site', () => {
  test('reads every name of others as it was, whatever is in it', () => {
    const names = ['two\nlines', 'end ', '100%', '%0A', 'ä b', `x\nKept-object: ${TREE} y`];
    const kept = names.map((path) => ({ path, sha: 'b'.repeat(40) }));
    const message = formatSiteMessage({ ...commit, kept }, 'ADD', 'x');
    expect(message.split('\n')).toHaveLength(4 + names.length);
    expect(parseSiteMessage(message, FOLDER)?.kept).toEqual(kept);
  });

  test('names the folder, what was delivered and what was kept', () => {
    expect(formatSiteMessage(commit, 'ADD', 'from run 7')).toBe(MESSAGE);
    const kept = [{ path: 'notes.txt', sha: 'b'.repeat(40) }];
    expect(formatSiteMessage({ ...commit, kept }, 'UPDATE', 'x')).toMatch(
      /^UPDATE pr-12: x\n.*\nKept-object: b{40} notes\.txt$/s,
    );
  });

  test('names the root of the branch by a dot', () => {
    const message = formatSiteMessage({ ...commit, folder: '' }, 'ADD', 'x');
    expect(message).toMatch(/^ADD \.: x\n[\s\S]* \.\/$/);
    expect(parseSiteMessage(message, '')).toEqual({ ...commit, folder: '' });
    expect(parseSiteMessage(message, FOLDER)).toBeNull();
  });

  test('is read back with everything that it names', () => {
    const name = fc.stringMatching(/^[\w .ä:-]{0,9}[\wä]$/);
    const sha = fc.stringMatching(/^[0-9a-f]{40}$/);
    const folder = fc.array(name, { maxLength: 3 }).map((parts) => parts.map((part) => `${part}/`).join(''));
    const kept = fc.array(fc.record({ path: name, sha }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.record({ folder, treeSha: sha, kept }), name, (one, essence) => {
        expect(parseSiteMessage(formatSiteMessage(one, 'UPDATE', essence), one.folder)).toEqual(one);
      }),
    );
  });

  test.each([
    ['is not about this folder', MESSAGE, 'previews/pr-13/'],
    ['is about a folder of the same name elsewhere', MESSAGE, 'pr-12/'],
    ['is about a folder in it', MESSAGE, 'previews/'],
    ['is quoted', `Merge\n\n${MESSAGE}`, FOLDER],
    ['is indented', `  ${MESSAGE}`, FOLDER],
    ['has one more line', `${MESSAGE}\nCo-authored-by: a person <a@example.com>`, FOLDER],
    ['has a line between', MESSAGE.replace('\n\n', '\n\nmore\n'), FOLDER],
    ['has another subject', MESSAGE.replace('ADD', 'Add'), FOLDER],
    ['has a subject without an essence', MESSAGE.replace('from run 7', ''), FOLDER],
    ['names another folder in its subject', MESSAGE.replace('pr-12:', 'pr-1:'), FOLDER],
    ['names another tool', MESSAGE.replace('screen-delivery', 'a-tool'), FOLDER],
    ['names no tree', MESSAGE.replace(/\nDelivered-tree.*/, ''), FOLDER],
    ['names a short tree', MESSAGE.replace(TREE, TREE.slice(1)), FOLDER],
    ['removes it', formatSiteRemoval(FOLDER, [FOLDER], 'from run 7'), FOLDER],
    ['is empty', '', FOLDER],
  ])('proves nothing where it %s', (_, message, folder) => {
    expect(parseSiteMessage(message, folder)).toBeNull();
  });
});

describe('the message of a removal', () => {
  const removed = ['previews/', 'previews/a/deep/', ''];
  const message = formatSiteRemoval('previews/', removed, 'from run 7');

  test('names every folder whose site it removes', () => {
    expect(message).toBe(
      'REMOVE previews: from run 7\n\nDelivered-by: screen-delivery\nRemoved-folder: previews/\nRemoved-folder: previews/a/deep/\nRemoved-folder: ./',
    );
    expect(parseSiteRemoval(message)).toEqual(removed);
  });

  test.each([
    ['is quoted', `Merge\n\n${message}`],
    ['has one more line', `${message}\nCo-authored-by: a person <a@example.com>`],
    ['has another subject', message.replace('REMOVE', 'Remove')],
    ['names another tool', message.replace('screen-delivery', 'a-tool')],
    ['delivers', MESSAGE],
    ['is empty', ''],
  ])('removes nothing where it %s', (_, text) => {
    expect(parseSiteRemoval(text)).toEqual([]);
  });
});
