import type { StoredComment, StoredIssue } from '../issue-tracker.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import {
  type ApiCall,
  assertPermission,
  createRoute,
  getId,
  getText,
  type RequiredPermissions,
  replyPage,
  requireText,
} from './call.ts';
import { failNotFound } from './errors.ts';
import { formatUser } from './repository.ts';

/** Refuses a call without permission. For a pull request, the real host refused `issues: write` alone. */
function assertAllowed({ request, repository, permissions }: ApiCall, isPull: boolean): void {
  const isRead = request.method === 'GET';
  const level = isRead ? 'read' : 'write';
  const need: RequiredPermissions = { pull_requests: level, ...(!isPull && { issues: level }) };
  assertPermission(permissions, need, isRead && !repository.isPrivate);
}

const formatComment = ({ id, user, body }: StoredComment) => ({ id, user: formatUser(user.login), body });

const formatIssue = ({ number, author, title, body, state, head }: StoredIssue) => ({
  ...{ id: number, number, title, body, state, user: formatUser(author) },
  ...(head !== null && { pull_request: {} }),
});

const isInState = ({ state }: StoredIssue, { query }: ApiCall['request']): boolean =>
  query.get('state') === 'all' || state === (query.get('state') ?? 'open');

function listPulls(call: ApiCall): HostReply {
  assertAllowed(call, true);
  const { request, repository } = call;
  const asked = request.query.get('head');
  const found = repository.issues.all.filter(
    (one) =>
      one.head !== null &&
      isInState(one, request) &&
      (asked === null || asked === `${one.head.owner}:${one.head.ref}`),
  );
  return replyPage(call, found, ({ number, state, head, closedAt }) => ({
    ...{ number, state, closed_at: closedAt },
    head: { sha: head?.sha },
  }));
}

function listIssues(call: ApiCall): HostReply {
  assertAllowed(call, false);
  const { request, repository } = call;
  const creator = request.query.get('creator');
  const found = repository.issues.all.filter(
    (one) => isInState(one, request) && (creator === null || creator === one.author),
  );
  return replyPage(call, found, formatIssue);
}

function createIssue(call: ApiCall): HostReply {
  assertAllowed(call, false);
  const { body } = call;
  const title = requireText(body, 'title');
  const issue = call.repository.issues.open(title, getText(body, 'body') ?? null, call.login ?? '');
  return replyJson(201, formatIssue(issue));
}

function updateIssue(call: ApiCall): HostReply {
  const issue = getIssue(call);
  const { body } = call;
  issue.title = getText(body, 'title') ?? issue.title;
  issue.body = getText(body, 'body') ?? issue.body;
  const state = getText(body, 'state');
  if (state === 'open' || state === 'closed') issue.state = state;
  return replyJson(200, formatIssue(issue));
}

function getIssue(call: ApiCall): StoredIssue {
  const issue = call.repository.issues.find(getId(call, 'number')) ?? failNotFound();
  assertAllowed(call, issue.head !== null);
  return issue;
}

function listComments(call: ApiCall): HostReply {
  const issue = getIssue(call);
  return replyPage(call, issue.comments, formatComment);
}

function createComment(call: ApiCall): HostReply {
  const issue = getIssue(call);
  const comment = call.repository.issues.comment(
    issue.number,
    requireText(call.body, 'body'),
    call.login ?? '',
  );
  return replyJson(201, formatComment(comment));
}

function getComment(call: ApiCall): { readonly comment: StoredComment; readonly issue: StoredIssue } {
  const found = call.repository.issues.findComment(getId(call, 'id')) ?? failNotFound();
  assertAllowed(call, found.issue.head !== null);
  return found;
}

function updateComment(call: ApiCall): HostReply {
  const { comment } = getComment(call);
  comment.body = requireText(call.body, 'body');
  return replyJson(200, formatComment(comment));
}

function deleteComment(call: ApiCall): HostReply {
  const { comment, issue } = getComment(call);
  issue.comments.splice(issue.comments.indexOf(comment), 1);
  return { status: 204 };
}

/** Issues, pull requests and their comments. Each route checks permissions after it knows what a number is. */
export const ISSUE_ROUTES = [
  createRoute('GET /pulls', {}, listPulls),
  createRoute('GET /issues', {}, listIssues),
  createRoute('POST /issues', {}, createIssue),
  createRoute('PATCH /issues/comments/:id', {}, updateComment),
  createRoute('DELETE /issues/comments/:id', {}, deleteComment),
  createRoute('PATCH /issues/:number', {}, updateIssue),
  createRoute('GET /issues/:number/comments', {}, listComments),
  createRoute('POST /issues/:number/comments', {}, createComment),
];
