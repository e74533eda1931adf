import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  formatCommitMessage,
  isOwnedFile,
  isOwnedPicture,
  notOwnedError,
} from '../../../src/channels/pages/ownership.ts';
import { formatSiteMessage } from '../../../src/channels/pages/site/site-message.ts';

const PATH = 'previews/pr-12/page.html';
const BLOB = 'b10b'.repeat(10);
const commit = { path: PATH, blobSha: BLOB, replaces: false, essence: 'from run 7 of Deliver' };
const MESSAGE = `ADD page.html: from run 7 of Deliver

Delivered-by: screen-delivery
Delivered-object: ${BLOB} ${PATH}`;

describe('formatCommitMessage', () => {
  test('names what a commit delivers', () => {
    expect(formatCommitMessage(commit)).toBe(MESSAGE);
    expect(formatCommitMessage({ ...commit, replaces: true })).toBe(MESSAGE.replace('ADD', 'UPDATE'));
  });

  test('names no object where the path is removed', () => {
    expect(formatCommitMessage({ ...commit, blobSha: null, replaces: true })).toBe(
      'REMOVE page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery',
    );
  });
});

describe('isOwnedFile', () => {
  test('accepts the message of the commit that delivered what the path holds', () => {
    expect(isOwnedFile(MESSAGE, { path: PATH, blobSha: BLOB })).toBe(true);
    expect(isOwnedFile(`${MESSAGE}\n`, { path: PATH, blobSha: BLOB })).toBe(true);
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
    expect(isOwnedFile(message, { path: PATH, blobSha: BLOB })).toBe(false);
  });

  test('refuses other bytes than those that the commit names, as after an amended commit', () => {
    expect(isOwnedFile(MESSAGE, { path: PATH, blobSha: '0ther'.repeat(8) })).toBe(false);
  });

  test('accepts every message of formatCommitMessage, and no text with anything more or less', () => {
    const essence = fc
      .string({ minLength: 1 })
      .filter((text) => !/[\n\r]/.test(text) && text.trim() === text);
    const noise = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(essence, fc.boolean(), noise, (text, replaces, more) => {
        const message = formatCommitMessage({ ...commit, essence: text, replaces });
        expect(isOwnedFile(message, { path: PATH, blobSha: BLOB })).toBe(true);
        expect(isOwnedFile(`${message}${more}`, { path: PATH, blobSha: BLOB })).toBe(false);
        expect(isOwnedFile(`${more}${message}`, { path: PATH, blobSha: BLOB })).toBe(false);
      }),
    );
  });
});

describe('a confined delivery', () => {
  const object = { path: PATH, blobSha: BLOB };
  const owner = 'previews/ Deliver/answer';
  const confined = formatCommitMessage({ ...commit, confinedTo: owner });

  test('names what it is confined to, and owns only what the same one delivered', () => {
    expect(confined).toBe(MESSAGE.replace('delivery\n', `delivery\nConfined-to: ${owner}\n`));
    expect(isOwnedFile(confined, object, owner)).toBe(true);
    for (const other of ['previews/ Deliver/other', 'previews/', '']) {
      expect(isOwnedFile(confined, object, other)).toBe(false);
    }
    expect(isOwnedFile(MESSAGE, object, owner)).toBe(false);
  });

  test('is owned by the tool as a whole, so that a person can withdraw it', () => {
    expect(isOwnedFile(confined, object)).toBe(true);
    expect(isOwnedFile(confined.replace('Confined-to: ', 'Confined-to:'), object)).toBe(false);
    expect(isOwnedFile(`${confined}\nConfined-to: ${owner}`, object)).toBe(false);
  });

  test('owns no picture of a page that another one delivered', () => {
    const picture = { path: `${PATH}.png`, blobSha: 'p1' };
    const withPicture = { ...commit, pictures: [picture] };
    const isOwned = (confinedTo?: string) =>
      isOwnedPicture(formatCommitMessage({ ...withPicture, confinedTo }), picture, PATH, owner);
    expect([isOwned(owner), isOwned('previews/ Other/job'), isOwned()]).toEqual([true, false, false]);
  });
});

describe('notOwnedError', () => {
  test.each([
    ['p/1/', 'p/1/'],
    ['', './'],
  ])('a file that came with the folder %j is refused by the name of that folder', (folder, shown) => {
    const message = formatSiteMessage({ folder, treeSha: 'a'.repeat(40), kept: [] }, 'ADD', 'x');
    const refusal = notOwnedError('p/1/a.html', true, message);
    expect(refusal.message).toMatch(/it came with the folder \S+ that was delivered as a whole$/);
    expect(refusal.hint).toContain(`\`path: ${shown}\``);
    expect(notOwnedError('p/2/a.html', true, 'Add it').message).toMatch(/did not deliver what it holds now$/);
  });
});
