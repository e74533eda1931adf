import { expect, test } from '@jest/globals';
import { type StickyComment, updateStickyComment } from '../../../src/github/api/pull-requests.ts';
import { fakePorts } from '../../support/ports.ts';
import { Discussion } from '../discussion.ts';
import { failure } from '../fake-github.ts';

const BOT = 'github-actions[bot]';
const MARKER = '<!-- screen-delivery:0123456789abcdef -->';
const OLD = `${MARKER}\n\nold`;
const NEW = `${MARKER}\n\nnew`;

const stickyWith = (more: Partial<StickyComment> = {}): StickyComment => ({
  number: 7,
  mark: MARKER,
  compose: () => NEW,
  ...more,
});

const getComments = ({ comments }: Discussion): [string | undefined, string][] =>
  comments.map(({ user, body }) => [user?.login, body]);

test.each<[string, string | null, string]>([
  ['with our marker, by another user', 'mallory', OLD],
  ['with our marker, by a deleted account', null, OLD],
  ['that quotes ours, by our own account', BOT, `> ${MARKER}\n> old\n\nNice`],
  ['of another step, by our own account', BOT, OLD.replace('0123', 'fedc')],
])('updateStickyComment leaves a comment unchanged %s', async (_, login, body) => {
  const discussion = new Discussion();
  discussion.write(body, login);
  const github = discussion.seenBy(BOT);
  await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('created');
  expect(getComments(discussion)).toEqual([
    [login ?? undefined, body],
    [BOT, NEW],
  ]);
  expect(github.names).not.toContain('update_comment');
  expect(github.names).not.toContain('delete_comment');
});

test('updateStickyComment deletes the duplicates that earlier jobs left', async () => {
  const discussion = new Discussion();
  const id = discussion.write(OLD, BOT);
  discussion.write('talk', 'octo');
  discussion.write(OLD, BOT);
  await expect(updateStickyComment(discussion.seenBy(BOT), stickyWith(), fakePorts())).resolves.toBe(
    'updated',
  );
  expect(discussion.comments).toMatchObject([{ id, body: NEW }, { body: 'talk' }]);
});

test('updateStickyComment succeeds when the list does not contain the new comment yet', async () => {
  const github = new Discussion().seenBy(BOT, { list_comments: [] });
  await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('created');
  expect(github.names).toEqual(['graphql', 'list_comments', 'create_comment', 'list_comments']);
});

test('updateStickyComment accepts that another job has deleted a duplicate', async () => {
  const discussion = new Discussion();
  discussion.write(NEW, BOT);
  discussion.write(OLD, BOT);
  const github = discussion.seenBy(BOT, { delete_comment: failure('NOT_FOUND', 404) });
  await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('unchanged');
});

test('updateStickyComment finds the comment of a write whose answer was lost, and does not write it again', async () => {
  const discussion = new Discussion();
  const lost = failure('CONNECTION', undefined, { retryable: true });
  const github = discussion.seenBy(BOT, {
    create_comment: ({ body }: { body: string }) => {
      discussion.write(body, BOT);
      return lost;
    },
  });
  await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('unchanged');
  expect(getComments(discussion)).toEqual([[BOT, NEW]]);
  expect(github.sent('create_comment')).toHaveLength(1);
});
