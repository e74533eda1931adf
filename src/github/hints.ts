import type { ErrorCode } from '../errors.ts';
import type { Text, Words } from '../words.ts';

/** What to change, for failures that GitHub's API and git report alike. */

export const RETRY_HINT = (w: Words) => `try again, or ${w.use('K3')}`;

export const CONFLICT_HINT = (w: Words) => `another job writes here too: ${RETRY_HINT(w)}`;

export const RATE_LIMIT_HINT = (w: Words) =>
  `GitHub limits this token for a while: run fewer deliveries at once, or later, or ${w.use('K3')}`;

export const TOKEN_HINT = (w: Words) =>
  `set ${w.input('token')} to a valid token${w.ownToken}, or ${w.use('K3')}`;

export const NOT_FOUND_HINT = (w: Words) =>
  `check that ${w.input('repository')} and ${w.input('branch')} exist, and that ${w.input('token')} may write there, or ${w.use('K3')}`;

export const MOVED_HINT = (w: Words) =>
  `the repository has moved: set ${w.input('repository')} to its new name`;

export const NEWER_ACTION_HINT = (w: Words) => `use the newest version of this tool, or ${w.use('K3')}`;

export const OTHER_BRANCH_HINT = (w: Words) =>
  `build the site from a branch without this rule (Settings → Pages) and set ${w.input('branch')} to it, set ${w.input('token')} to one that may bypass the rule, or ${w.use('K2')}, which pushes nothing`;

export const SIZE_HINT = (w: Words) => `${w.use('K2')} for a file of this size`;

export const OTHER_PATH_HINT = (w: Words) => `set ${w.input('path')} to a place of its own`;

/** @param permissions such as `contents: write, pages: read` */
export const permissionHint = (permissions: string) => (w: Words) => w.grant(permissions);

/**
 * A commit lacks the signature that the branch asks for.
 *
 * @see https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-signed-commits
 */
const SIGNATURE_RULE = /must have (a )?(verified|valid) signatures?|commits? (must|need to) be signed/i;

/**
 * A rule of the branch: a ruleset, or classic protection, which says only what it misses. It refuses the same
 * write each time, so none of these is a race with another writer.
 *
 * @see https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules
 */
const BRANCH_RULE = new RegExp(
  [
    /GH0(06|13)\b|rule violations?|protected (branch|ref)|branch is protected|locked branch/,
    /changes must be made through/,
    /status checks? .*(expected|failing|pending|not succeeded|in progress|required)|required status checks?/,
    /review (is |from .* is )?required|reviews? (is|are) required|code owner review|changes (were|have been) requested/,
    /not (authorized|allowed) to (push|update|create|delete|force-push)|push(ing)? .* (is|are) restricted/,
    /required (deployments?|workflows?|conversation)|conversations? must be resolved|must not contain merge commits/,
    /cannot (force-push to|update|delete|create|change) (this )?(protected )?(branch|ref|tag)/,
    /(creations|updates|deletions) being restricted/,
    /(pre-receive )?hook declined|push declined/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/**
 * A push rule: it limits paths, path lengths, extensions and sizes on every branch, so no other branch helps.
 *
 * @see https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
 */
const PUSH_RULE =
  /(rule violations?|GH013)[\s\S]*\b(file (path|extension|size|name)s?|path length|extensions?)\b/i;

/** A refusal that GitHub's API and git pass on in the same words. */
interface SharedRefusal {
  readonly text: RegExp;
  readonly code: ErrorCode;
  readonly hint: Text;
}

/** What GitHub's own sentences mean, from its API and from git alike. */
export const SHARED_REFUSALS = {
  /** The repository cannot be changed by anybody. */
  archived: {
    text: /(was|is|has been) archived/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) =>
      `unarchive it under Settings → General, set ${w.input('repository')} to another one, or ${w.use('K3')}`,
  },
  /** Push protection found a secret in the file. */
  secret: {
    text: /cannot contain secrets|secrets? (was |were )?detected/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: 'remove the secret from the file and revoke it: push protection of the repository found it',
  },
  /** The organization asks for single sign-on, and the token is not authorized for it. */
  singleSignOn: {
    text: /\bSAML\b|single sign-on|\bSSO\b/i,
    code: 'BAD_TOKEN',
    hint: (w) =>
      `authorize the token for the organization's single sign-on (Settings → Developer settings → Configure SSO), set ${w.input('token')} to another one${w.ownToken}, or ${w.use('K3')}`,
  },
  pushRule: {
    text: PUSH_RULE,
    code: 'FORBIDDEN_BY_RULE',
    hint: (w) =>
      `a push rule of the repository forbids the name or the size of this file: set ${w.input('path')} to a name that it allows, or ${w.use('K2')}, which pushes nothing`,
  },
  signature: { text: SIGNATURE_RULE, code: 'NEEDS_SIGNATURE', hint: OTHER_BRANCH_HINT },
  branchRule: {
    text: BRANCH_RULE,
    code: 'FORBIDDEN_BY_RULE',
    hint: OTHER_BRANCH_HINT,
  },
} as const satisfies Record<string, SharedRefusal>;
