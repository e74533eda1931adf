import { type Answers, type CallParameters, FakeGitHub, failure } from './fake-github.ts';

export interface FakeComment {
  readonly id: number;
  body: string;
  readonly user: { readonly login: string } | null;
}

/** A pull request's comments, read and written by several clients. */
export class Discussion {
  readonly comments: FakeComment[] = [];
  #last = 100;

  /** Adds a comment of a user. @returns its id */
  write(body: string, login: string | null): number {
    this.#last += 1;
    this.comments.push({ id: this.#last, body, user: login === null ? null : { login } });
    return this.#last;
  }

  /** The API for the owner of a token; `more` replaces some of its answers. */
  seenBy(login: string, more: Answers = {}): FakeGitHub {
    return new FakeGitHub({
      graphql: { data: { viewer: { login } } },
      list_comments: (parameters: CallParameters) =>
        this.#page(Number(parameters.per_page), Number(parameters.page)),
      create_comment: ({ body }: CallParameters) => ({ id: this.write(String(body), login) }),
      update_comment: ({ comment_id, body }: CallParameters) =>
        this.#update(Number(comment_id), String(body)),
      delete_comment: ({ comment_id }: CallParameters) => this.#delete(Number(comment_id)),
      ...more,
    });
  }

  #page(size: number, page: number): FakeComment[] {
    return this.comments.slice((page - 1) * size, page * size).map((comment) => ({ ...comment }));
  }

  #update(id: number, body: string): unknown {
    const comment = this.comments.find((one) => one.id === id);
    if (comment === undefined) return failure('NOT_FOUND', 404);
    comment.body = body;
    return { ...comment };
  }

  #delete(id: number): unknown {
    const at = this.comments.findIndex((one) => one.id === id);
    if (at === -1) return failure('NOT_FOUND', 404);
    this.comments.splice(at, 1);
    return undefined;
  }
}
