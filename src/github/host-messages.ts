import type { ErrorCode } from '../errors.ts';
import { ARCHIVED_HINT, PUSH_RULE_HINT, RULE_HINT, SECRET_HINT, SIGNATURE_HINT, SSO_HINT } from './hints.ts';

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
  readonly hint: string;
}

/** What GitHub's own sentences mean, from its API and from git alike. */
export const SHARED_REFUSALS = {
  /** The repository cannot be changed by anybody. */
  archived: { text: /(was|is|has been) archived/i, code: 'FORBIDDEN_BY_RULE', hint: ARCHIVED_HINT },
  /** Push protection found a secret in the file. */
  secret: {
    text: /cannot contain secrets|secrets? (was |were )?detected/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: SECRET_HINT,
  },
  /** The organization asks for single sign-on, and the token is not authorized for it. */
  singleSignOn: { text: /\bSAML\b|single sign-on|\bSSO\b/i, code: 'BAD_TOKEN', hint: SSO_HINT },
  pushRule: { text: PUSH_RULE, code: 'FORBIDDEN_BY_RULE', hint: PUSH_RULE_HINT },
  signature: { text: SIGNATURE_RULE, code: 'NEEDS_SIGNATURE', hint: SIGNATURE_HINT },
  branchRule: { text: BRANCH_RULE, code: 'FORBIDDEN_BY_RULE', hint: RULE_HINT },
} as const satisfies Record<string, SharedRefusal>;
