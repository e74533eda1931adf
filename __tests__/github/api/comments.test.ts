import { describe, expect, test } from '@jest/globals';
import { type StickyComment, updateStickyComment } from '../../../src/github/api/comments.ts';
import { COMMENTS } from '../../../src/protocol/limits.ts';
import { fakePorts } from '../../support/ports.ts';
import { Discussion } from '../discussion.ts';
import { FakeGitHub, failure } from '../fake-github.ts';

const BOT = 'github-actions[bot]';
const MARKER = '<!-- screen-delivery:0123456789abcdef -->';
const OLD = `${MARKER}\n\nold`;
const NEW = `${MARKER}\n\nnew`;

const stickyWith = (more: Partial<StickyComment> = {}): StickyComment => ({
  number: 7,
  marker: MARKER,
  body: NEW,
  mayCreate: true,
  ...more,
});

/** The bodies that stand, by author. */
const standing = ({ comments }: Discussion): [string | undefined, string][] =>
  comments.map(({ user, body }) => [user?.login, body]);

describe('the one comment', () => {
  test('is created where there is none', async () => {
    const discussion = new Discussion();
    const github = discussion.seenBy(BOT);
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('created');
    expect(standing(discussion)).toEqual([[BOT, NEW]]);
    expect(github.sent('create_comment')).toEqual([{ number: 7, body: NEW }]);
  });

  test('is updated in place', async () => {
    const discussion = new Discussion();
    const id = discussion.write(OLD, BOT);
    await expect(updateStickyComment(discussion.seenBy(BOT), stickyWith(), fakePorts())).resolves.toBe(
      'updated',
    );
    expect(discussion.comments).toEqual([{ id, body: NEW, user: { login: BOT } }]);
  });

  test('is left alone where it says the same already', async () => {
    const discussion = new Discussion();
    discussion.write(NEW, BOT);
    const github = discussion.seenBy(BOT);
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('unchanged');
    expect(github.names).toEqual(['viewer', 'list_comments']);
  });

  test('is not created where none is wanted', async () => {
    const discussion = new Discussion();
    const sticky = stickyWith({ mayCreate: false });
    await expect(updateStickyComment(discussion.seenBy(BOT), sticky, fakePorts())).resolves.toBe('none');
    expect(discussion.comments).toEqual([]);
  });

  test('is updated also where none would be created', async () => {
    const discussion = new Discussion();
    discussion.write(OLD, BOT);
    await updateStickyComment(discussion.seenBy(BOT), stickyWith({ mayCreate: false }), fakePorts());
    expect(standing(discussion)).toEqual([[BOT, NEW]]);
  });

  test('is found on the last page of a long discussion', async () => {
    const discussion = new Discussion();
    for (let at = 0; at < COMMENTS.total - 1; at += 1) discussion.write('talk', 'octo');
    const id = discussion.write(OLD, BOT);
    const github = discussion.seenBy(BOT);
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('updated');
    expect(github.sent('update_comment')).toEqual([{ id, body: NEW }]);
    expect(github.sent('list_comments')).toHaveLength(COMMENTS.total / COMMENTS.page);
  });
});

describe('somebody else’s comment', () => {
  test.each<[string, string | null, string]>([
    ['with a planted marker', 'mallory', OLD],
    ['with a planted marker, by another bot', 'other-app[bot]', OLD],
    ['with a planted marker, by an account that is gone', null, OLD],
    ['that quotes ours', 'mallory', `> ${MARKER}\n> old\n\nNice`],
    ['in our own name that quotes ours', BOT, `> ${MARKER}\n> old\n\nNice`],
    ['of another step', BOT, OLD.replace('0123', 'fedc')],
    ['without a text', BOT, ''],
  ])('%s is neither taken for ours nor touched', async (_, login, body) => {
    const discussion = new Discussion();
    discussion.write(body, login);
    const github = discussion.seenBy(BOT);
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('created');
    expect(standing(discussion)).toEqual([
      [login ?? undefined, body],
      [BOT, NEW],
    ]);
    expect(github.names).not.toContain('update_comment');
    expect(github.names).not.toContain('delete_comment');
  });

  test('is not even ours when the token is a person’s', async () => {
    const discussion = new Discussion();
    discussion.write(OLD, BOT);
    await updateStickyComment(discussion.seenBy('octo'), stickyWith(), fakePorts());
    expect(standing(discussion)).toEqual([
      [BOT, OLD],
      ['octo', NEW],
    ]);
  });
});

describe('runs at the same moment', () => {
  test('that both create end in one comment, the oldest', async () => {
    const discussion = new Discussion();
    const runs = ['first', 'second', 'third'].map((said) =>
      updateStickyComment(discussion.seenBy(BOT), stickyWith({ body: `${MARKER}\n\n${said}` }), fakePorts()),
    );
    await expect(Promise.all(runs)).resolves.toEqual(['created', 'created', 'created']);
    expect(discussion.comments).toHaveLength(1);
    expect(discussion.comments[0]).toMatchObject({ id: 101, user: { login: BOT } });
  });

  test('leave the duplicates of an earlier race to whoever comes next', async () => {
    const discussion = new Discussion();
    const id = discussion.write(OLD, BOT);
    discussion.write('talk', 'octo');
    discussion.write(OLD, BOT);
    await expect(updateStickyComment(discussion.seenBy(BOT), stickyWith(), fakePorts())).resolves.toBe(
      'updated',
    );
    expect(discussion.comments).toMatchObject([{ id, body: NEW }, { body: 'talk' }]);
  });

  test('don’t mind a list that lags behind', async () => {
    const github = new Discussion().seenBy(BOT, { list_comments: [] });
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('created');
    expect(github.names).toEqual(['viewer', 'list_comments', 'create_comment', 'list_comments']);
  });

  test('may delete the same duplicate', async () => {
    const discussion = new Discussion();
    discussion.write(NEW, BOT);
    discussion.write(OLD, BOT);
    const github = discussion.seenBy(BOT, { delete_comment: failure('NOT_FOUND', 404) });
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('unchanged');
  });
});

describe('a write whose answer is lost', () => {
  test('is looked for before it is sent again', async () => {
    const discussion = new Discussion();
    const lost = failure('CONNECTION', undefined, { retryable: true });
    const github = discussion.seenBy(BOT, {
      create_comment: ({ body }: { body: string }) => {
        discussion.write(body, BOT);
        return lost;
      },
    });
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('unchanged');
    expect(standing(discussion)).toEqual([[BOT, NEW]]);
    expect(github.sent('create_comment')).toHaveLength(1);
  });

  test('is sent again when it has not arrived', async () => {
    const discussion = new Discussion();
    const github = discussion.seenBy(BOT, {
      create_comment: ({ body }: { body: string }, nth: number) =>
        nth === 1 ? failure('HOST_ERROR', 502, { retryable: true }) : { id: discussion.write(body, BOT) },
    });
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).resolves.toBe('created');
    expect(standing(discussion)).toEqual([[BOT, NEW]]);
  });

  test.each(['create_comment', 'update_comment', 'delete_comment'] as const)(
    '%s is never repeated by the client alone',
    async (name) => {
      const discussion = new Discussion();
      const github = discussion.seenBy(BOT);
      if (name !== 'create_comment') for (const _ of [1, 2]) discussion.write(OLD, BOT);
      await updateStickyComment(github, stickyWith(), fakePorts());
      expect(github.calls.filter((call) => call.name === name)).toEqual([
        expect.objectContaining({ once: true }),
      ]);
    },
  );
});

describe('what can’t be done', () => {
  test.each(['list_comments', 'create_comment'] as const)('%s that is refused is thrown', async (name) => {
    const github = new Discussion().seenBy(BOT, { [name]: failure('NO_PERMISSION', 403) });
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).rejects.toMatchObject({
      code: 'NO_PERMISSION',
    });
  });

  test('a duplicate that may not be deleted is thrown', async () => {
    const discussion = new Discussion();
    for (const _ of [1, 2]) discussion.write(OLD, BOT);
    const github = discussion.seenBy(BOT, { delete_comment: failure('NO_PERMISSION', 403) });
    await expect(updateStickyComment(github, stickyWith(), fakePorts())).rejects.toMatchObject({
      httpCode: 403,
    });
  });

  test.each([{}, { data: null }, { data: { viewer: null } }, { data: { viewer: { login: '' } } }])(
    'a token of nobody, %j, writes nothing',
    async (viewer) => {
      const github = new Discussion().seenBy(BOT, { viewer });
      await expect(updateStickyComment(github, stickyWith(), fakePorts())).rejects.toMatchObject({
        code: 'NO_PERMISSION',
      });
      expect(github.names).toEqual(['viewer']);
    },
  );
});

describe('whose token it is', () => {
  class Enterprise extends FakeGitHub {
    override readonly apiUrl: URL;
    constructor(address: string) {
      super({ viewer: { data: { viewer: { login: BOT } } }, list_comments: [] });
      this.apiUrl = new URL(address);
    }
  }

  test.each([
    ['https://api.github.com', 'https://api.github.com/graphql'],
    ['https://api.octo.ghe.com/', 'https://api.octo.ghe.com/graphql'],
    ['https://git.corp.io/api/v3', 'https://git.corp.io/api/graphql'],
    ['https://git.corp.io/api/v3/', 'https://git.corp.io/api/graphql'],
  ])('%s is asked at %s', async (address, graphql) => {
    const github = new Enterprise(address);
    await updateStickyComment(github, stickyWith({ mayCreate: false }), fakePorts());
    expect(github.sent('viewer')).toEqual([{ graphql, query: 'query { viewer { login } }' }]);
  });
});
