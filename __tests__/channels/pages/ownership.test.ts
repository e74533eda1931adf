import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type DeliveryMessage, formatCommitMessage } from '../../../src/channels/pages/commit-message.ts';
import { notOwnedError } from '../../../src/channels/pages/not-ours.ts';
import { isOwned } from '../../../src/channels/pages/ownership.ts';

const PATH = 'previews/pr-12/page.html';
const BLOB = 'b10b'.repeat(10);
const OBJECT = { path: PATH, sha: BLOB };
const commit: DeliveryMessage = { verb: 'ADD', essence: 'from run 7 of Deliver', objects: [OBJECT] };
const MESSAGE = `ADD page.html: from run 7 of Deliver

Delivered-by: screen-delivery
Delivered-object: ${BLOB} ${PATH}`;

describe('formatCommitMessage', () => {
  test('names what a commit delivers', () => {
    expect(formatCommitMessage(PATH, commit)).toBe(MESSAGE);
    expect(formatCommitMessage(PATH, { ...commit, verb: 'UPDATE' })).toBe(MESSAGE.replace('ADD', 'UPDATE'));
  });

  test('names no object where the path is removed', () => {
    expect(formatCommitMessage(PATH, { ...commit, verb: 'REMOVE', objects: [] })).toBe(
      'REMOVE page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery',
    );
  });
});

describe('isOwned', () => {
  test('accepts the message of the commit that delivered what the path holds', () => {
    expect(isOwned(MESSAGE, OBJECT)).toBe(true);
    expect(isOwned(`${MESSAGE}\n`, OBJECT)).toBe(true);
  });

  test.each<[string, string]>([
    ['a squash merge of several commits', `Add previews (#12)\n\n* ${MESSAGE}\n\n* fix the page`],
    ['a squash merge that quotes one commit', `Add previews (#12)\n\n${MESSAGE}`],
    ['a commit message that a person wrote below ours', `${MESSAGE}\nCo-authored-by: a person`],
    ['a cherry-pick', `${MESSAGE}\n(cherry picked from commit ${BLOB})`],
    ['a revert', `Revert "ADD page.html: from run 7"\n\nThis reverts commit ${BLOB}.`],
    ['a quoted trailer', `Describe the trailer\n\nDelivered-by: screen-delivery`],
    ['the trailer without the object', 'ADD page.html: x\n\nDelivered-by: screen-delivery'],
    ['the object of another path', MESSAGE.replace(PATH, 'previews/pr-13/page.html')],
    ['the name of another file', MESSAGE.replace('ADD page', 'ADD index')],
    ['a removal', MESSAGE.replace('ADD', 'REMOVE')],
    ['no essence', MESSAGE.replace('from run 7 of Deliver', '')],
    ['a person', 'Improve the page'],
    ['nobody', ''],
  ])('refuses the message of %s', (_, message) => {
    expect(isOwned(message, OBJECT)).toBe(false);
  });

  test('refuses other bytes than those that the commit names, as after an amended commit', () => {
    expect(isOwned(MESSAGE, { path: PATH, sha: '0ther'.repeat(8) })).toBe(false);
  });

  test('accepts every message of formatCommitMessage, and no text with anything more or less', () => {
    const essence = fc
      .string({ minLength: 1 })
      .filter((text) => !/[\n\r]/.test(text) && text.trim() === text);
    const noise = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(essence, fc.constantFrom('ADD' as const, 'UPDATE' as const), noise, (text, verb, more) => {
        const message = formatCommitMessage(PATH, { ...commit, essence: text, verb });
        expect(isOwned(message, OBJECT)).toBe(true);
        expect(isOwned(`${message}${more}`, OBJECT)).toBe(false);
        expect(isOwned(`${more}${message}`, OBJECT)).toBe(false);
      }),
    );
  });
});

describe('a confined delivery', () => {
  const owner = 'previews/ Deliver/answer';
  const confined = formatCommitMessage(PATH, { ...commit, confinedTo: owner });

  test('names what it is confined to, and owns only what the same one delivered', () => {
    expect(confined).toBe(MESSAGE.replace('delivery\n', `delivery\nConfined-to: ${owner}\n`));
    expect(isOwned(confined, OBJECT, { confinedTo: owner })).toBe(true);
    for (const other of ['previews/ Deliver/other', 'previews/', '']) {
      expect(isOwned(confined, OBJECT, { confinedTo: other })).toBe(false);
    }
    expect(isOwned(MESSAGE, OBJECT, { confinedTo: owner })).toBe(false);
  });

  test('is owned by the tool as a whole, so that a person can withdraw it', () => {
    expect(isOwned(confined, OBJECT)).toBe(true);
    expect(isOwned(confined.replace('Confined-to: ', 'Confined-to:'), OBJECT)).toBe(false);
    expect(isOwned(`${confined}\nConfined-to: ${owner}`, OBJECT)).toBe(false);
  });

  test('owns no picture of a page that another one delivered', () => {
    const picture = { path: `${PATH}.png`, sha: 'p1' };
    const withPicture = { ...commit, objects: [OBJECT, picture] };
    const isOurs = (confinedTo?: string) =>
      isOwned(formatCommitMessage(PATH, { ...withPicture, confinedTo }), picture, {
        page: PATH,
        confinedTo: owner,
      });
    expect([isOurs(owner), isOurs('previews/ Other/job'), isOurs()]).toEqual([true, false, false]);
  });
});

describe('notOwnedError', () => {
  test.each([
    ['p/1/', 'p/1/'],
    ['', './'],
  ])('a file that came with the folder %j is refused by the name of that folder', (folder, shown) => {
    const message = formatCommitMessage(folder, {
      verb: 'ADD',
      essence: 'x',
      site: { folder, treeSha: 'a'.repeat(40), kept: [] },
    });
    const refusal = notOwnedError('p/1/a.html', true, message);
    expect(refusal.message).toMatch(/it came with the folder \S+ that was delivered as a whole$/);
    expect(refusal.hint).toContain(`\`path: ${shown}\``);
    expect(notOwnedError('p/2/a.html', true, 'Add it').message).toMatch(/did not deliver what it holds now$/);
  });
});
