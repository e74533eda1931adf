import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type DeliveryMessage,
  formatCommitMessage,
  parseMessage,
} from '../../../src/channels/pages/commit-message.ts';
import { isOfOthers, isOwned } from '../../../src/channels/pages/ownership.ts';

const PATH = 'previews/pr-12/page.html';
const OBJECT = 'b10b'.repeat(10);
const FILE = { itemPath: PATH, object: OBJECT, beside: [], kept: [] };
const FOLDER = { itemPath: 'previews/pr-12/', object: 'a'.repeat(40), beside: [], kept: [] };
const REMOVED = ['previews/', 'previews/a/deep/', ''];
const PICTURE = { path: `${PATH}.png`, sha: 'p1' };

const said = { verb: 'ADD', essence: 'from run 7 of Deliver', removedFrom: [] as string[] } as const;
const ofFile: DeliveryMessage = { ...said, delivered: FILE, removed: [] };
const ofFolder: DeliveryMessage = { ...said, delivered: FOLDER, removed: [] };
const FROM = { name: 'octo/site/.github/workflows/a b.yml', run: '4242/1' };
const ofRemoval: DeliveryMessage = { ...said, verb: 'REMOVE', removed: REMOVED };

const format = (message: DeliveryMessage): string =>
  formatCommitMessage(message.delivered?.itemPath ?? 'previews/', message);

describe('the message of a commit', () => {
  test.each([
    [
      'a file',
      ofFile,
      `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: ${OBJECT} ${PATH}`,
    ],
    [
      'the workflow and its run',
      { ...ofFile, deliverer: FROM },
      `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-from: 4242/1 octo/site/.github/workflows/a b.yml\nDelivered-object: ${OBJECT} ${PATH}`,
    ],
    [
      'for whom alone it is delivered',
      { ...ofFile, deliverer: { name: 'an agent' } },
      `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-from: - an agent\nDelivered-object: ${OBJECT} ${PATH}`,
    ],
    [
      'a page with its picture',
      { ...ofFile, delivered: { ...FILE, beside: [PICTURE] } },
      `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: ${OBJECT} ${PATH}\nDelivered-object: p1 ${PATH}.png`,
    ],
    [
      'a folder, and what else is there',
      { ...ofFolder, delivered: { ...FOLDER, kept: [{ path: 'my notes.txt', sha: 'c0' }] } },
      `ADD pr-12: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: ${FOLDER.object} previews/pr-12/\nKept-object: c0 my%20notes.txt`,
    ],
    [
      'the page of a folder that is no index.html',
      { ...ofFolder, delivered: { ...FOLDER, page: 'previews/pr-12/start.html' } },
      `ADD pr-12: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: ${FOLDER.object} previews/pr-12/\nDelivered-page: previews/pr-12/start.html`,
    ],
    [
      'the root of the branch',
      { ...ofFolder, delivered: { ...FOLDER, itemPath: '' } },
      `ADD .: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: ${FOLDER.object} ./`,
    ],
    [
      'the paths that it removes',
      ofRemoval,
      'REMOVE previews: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nRemoved: previews/\nRemoved: previews/a/deep/\nRemoved: ./',
    ],
    [
      'the folders of which it removes a part',
      { ...ofRemoval, removed: ['p/'], removedFrom: ['p/q/', ''] },
      'REMOVE previews: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nRemoved: p/\nRemoved-from: p/q/\nRemoved-from: ./',
    ],
  ])('names %s, and is read as it was', (_, message, text) => {
    expect(format(message)).toBe(text);
    expect(parseMessage(text)).toEqual(message);
    expect(parseMessage(`${text}\n`)).toEqual(message);
  });

  test('keeps every foreign name, whatever characters it has', () => {
    const names = ['two\nlines', 'end ', '100%', '%0A', 'ä b', `x\nKept-object: ${OBJECT} y`];
    const kept = names.map((path) => ({ path, sha: 'b'.repeat(40) }));
    const text = format({ ...ofFolder, delivered: { ...FOLDER, kept } });
    expect(text.split('\n')).toHaveLength(4 + names.length);
    expect(parseMessage(text)?.delivered?.kept).toEqual(kept);
  });

  test('is parsed back to exactly what it names', () => {
    const name = fc.stringMatching(/^[\w .ä:-]{0,9}[\wä]$/);
    const sha = fc.stringMatching(/^[0-9a-f]{40}$/);
    const itemPath = fc
      .array(name, { maxLength: 3 })
      .map((parts) => parts.map((part) => `${part}/`).join(''));
    const kept = fc.array(fc.record({ path: name, sha }), { maxLength: 4 });
    const folder = fc.record({ itemPath, object: sha, kept, beside: fc.constant([]) });
    const noise = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(fc.oneof(folder, fc.constant(FILE)), name, noise, (delivered, essence, more) => {
        const text = format({ verb: 'UPDATE', essence, delivered });
        expect(parseMessage(text)).toMatchObject({ verb: 'UPDATE', essence, delivered });
        expect(parseMessage(`${text}${more}`)?.delivered).not.toEqual(delivered);
        expect(parseMessage(`${more}${text}`)).toBeNull();
      }),
    );
  });

  const ALL = [ofFile, ofFolder, ofRemoval];
  test.each<[string, DeliveryMessage[], (text: string) => string]>([
    ['is one of several in a squash merge', ALL, (text) => `Add previews\n\n* ${text}\n\n* fix the page`],
    ['has a line between', ALL, (text) => text.replace('\n\n', '\n\nmore\n')],
    ['has another subject', ALL, (text) => text.replace(/^\w+/, 'Change')],
    ['has no essence', ALL, (text) => text.replace('from run 7 of Deliver', '')],
    ['names another tool', ALL, (text) => text.replace('screen-delivery', 'a-tool')],
    ['does both', ALL, (text) => text.replace(/^\w+/, (verb) => (verb === 'ADD' ? 'REMOVE' : 'ADD'))],
    ['is empty', ALL, () => ''],
    ['names another file in its subject', [ofFile], (text) => text.replace('ADD page', 'ADD index')],
    ['names another folder in its subject', [ofFolder], (text) => text.replace('pr-12:', 'pr-1:')],
    ['names no object', [ofFile], (text) => text.replace(/\nDelivered-object.*/, '')],
    ['names another file', [ofFile], (text) => `${text}\nDelivered-object: x docs/other.html`],
    ['names a picture beside a folder', [ofFolder], (text) => `${text}\nDelivered-object: p1 ${PATH}.png`],
    ['says that a file kept others', [ofFile], (text) => `${text}\nKept-object: c0 notes.txt`],
    ['removes a folder beside a file', [ofFile], (text) => `${text}\nRemoved: previews/`],
    ['delivers and removes a part', [ofFolder], (text) => `${text}\nRemoved-from: previews/`],
    [
      'names two workflows',
      [{ ...ofFile, deliverer: FROM }],
      (text) => text.replace(/(Delivered-from: .*\n)/, '$1$1'),
    ],
  ])('proves nothing where it %s', (_, messages, edit) => {
    for (const message of messages) {
      expect(parseMessage(format(message))).not.toBeNull();
      expect(parseMessage(edit(format(message)))).toBeNull();
    }
  });
});

const held = { path: PATH, sha: OBJECT };

const name = 'previews/ Deliver/answer';
const withPicture = { ...FILE, beside: [PICTURE] };
const confined = (by?: string): string =>
  format({ ...ofFile, delivered: withPicture, deliverer: by === undefined ? by : { name: by } });

test('a confined delivery owns only its own paths; the tool owns all of them', () => {
  for (const one of [held, PICTURE]) {
    expect(isOwned(confined(name), one, one === held ? undefined : PATH)).toBe(true);
  }
  const from = { name, run: '7/1', isRestricted: true };
  expect(isOfOthers(confined(name), { deliverer: from, overwrite: false })).toBe(false);
  for (const other of ['previews/ Deliver/other', 'previews/', undefined]) {
    expect(isOfOthers(confined(other), { deliverer: from, overwrite: false })).toBe(true);
    expect(isOfOthers(confined(other), { deliverer: from, overwrite: true })).toBe(false);
    expect(isOfOthers(confined(other), { deliverer: { name }, overwrite: false })).toBe(false);
  }
});

test('a path is owned if its commit names the content that it holds', () => {
  expect(isOwned(format(ofFile), held)).toBe(true);
  expect(isOwned(format(ofFile), { ...held, path: 'previews/pr-13/page.html' })).toBe(false);
  expect(isOwned(format(ofFolder), { path: FOLDER.itemPath, sha: FOLDER.object })).toBe(false);
});

test('a picture is owned only if it came with its page', () => {
  const ofPicture = format({ ...said, delivered: { ...FILE, itemPath: PICTURE.path, object: PICTURE.sha } });
  expect(isOwned(confined(), PICTURE, PATH)).toBe(true);
  expect(isOwned(confined(), PICTURE, 'docs/page.html')).toBe(false);
  expect([isOwned(ofPicture, PICTURE), isOwned(ofPicture, PICTURE, PATH)]).toEqual([true, false]);
});
