/**
 * What a branch can require. The first two are rules of a ruleset, the others are classic branch protection:
 * both refuse with words of their own.
 */
export type BranchRule =
  | 'pull-request'
  | 'signatures'
  | 'classic-pull-request'
  | 'classic-status-check'
  | 'classic-status-checks'
  | 'classic-review'
  | 'classic-push-access'
  | 'classic-signatures';

interface RuleWords {
  /** What the hosts say of a change. */
  readonly message: string;
  readonly classic: boolean;
  /** Whether only commits without a signature are refused. */
  readonly unsignedOnly: boolean;
  /** The type that the API's list of a branch's rules has; that list leaves out classic protection. */
  readonly type?: string;
}

const PUSH_ACCESS =
  "You're not authorized to push to this branch. Visit https://docs.github.com/articles/about-protected-branches/ for more information.";

export const BRANCH_RULES: Readonly<Record<BranchRule, RuleWords>> = {
  'pull-request': {
    message: 'Changes must be made through a pull request.',
    classic: false,
    unsignedOnly: false,
    type: 'pull_request',
  },
  signatures: {
    message: 'Commits must have verified signatures.',
    classic: false,
    unsignedOnly: true,
    type: 'required_signatures',
  },
  'classic-pull-request': {
    message: 'Changes must be made through a pull request.',
    classic: true,
    unsignedOnly: false,
  },
  'classic-status-check': {
    message: 'Required status check "ci" is expected.',
    classic: true,
    unsignedOnly: false,
  },
  'classic-status-checks': {
    message: '2 of 2 required status checks are expected.',
    classic: true,
    unsignedOnly: false,
  },
  'classic-review': {
    message: 'At least 1 approving review is required by reviewers with write access.',
    classic: true,
    unsignedOnly: false,
  },
  'classic-push-access': { message: PUSH_ACCESS, classic: true, unsignedOnly: false },
  'classic-signatures': {
    message: 'Commits must have verified signatures.',
    classic: true,
    unsignedOnly: true,
  },
};

/** The rules of a repository: each branch has at most one. */
export class BranchRules {
  #rule: BranchRule | null = null;
  #branches: readonly string[] | null = null;

  /** Sets the rule of some branches, or of all; null removes it. */
  set(rule: BranchRule | null, branches: readonly string[] | null): void {
    this.#rule = rule;
    this.#branches = branches;
  }

  /** The branch's rule; null when it has none. */
  get(branch: string): BranchRule | null {
    return this.#branches === null || this.#branches.includes(branch) ? this.#rule : null;
  }
}

/** The refusal of a change through the contents API. */
export function refuseContents(rule: BranchRule, change: 'create' | 'update'): string {
  const { classic, message } = BRANCH_RULES[rule];
  return classic ? `Could not ${change} file: ${message}` : refuseRefUpdate(rule);
}

/** The refusal of a ref update through the API. */
export function refuseRefUpdate(rule: BranchRule): string {
  const { classic, message } = BRANCH_RULES[rule];
  return classic ? message : `Repository rule violations found\n\n${message}\n\n`;
}

/**
 * A pre-receive hook that refuses pushes to the branches that have the rule, with the host's lines.
 * `signedFile` contains the commits that the host itself has signed, one a line.
 */
export function createRuleHook(
  fullName: string,
  rules: Readonly<Record<string, BranchRule>>,
  signedFile: string,
): string {
  const cases = Object.entries(rules).map(
    ([branch, rule]) => `refs/heads/${branch})\n${createRefusal(fullName, branch, rule, signedFile)};;`,
  );
  return `#!/bin/sh
status=0
while read -r old new ref; do
case "$ref" in
${cases.join('\n')}
esac
done
exit $status
`;
}

function createRefusal(fullName: string, branch: string, rule: BranchRule, signedFile: string): string {
  const { classic, message, unsignedOnly } = BRANCH_RULES[rule];
  const head = classic
    ? [`error: GH006: Protected branch update failed for refs/heads/${branch}.`, '']
    : [
        `error: GH013: Repository rule violations found for refs/heads/${branch}.`,
        `Review all repository rules at https://github.com/${fullName}/rules?ref=refs%2Fheads%2F${encodeURIComponent(branch)}`,
        '',
      ];
  const print = (lines: readonly string[]) =>
    `printf '%s\\n' ${lines.map((line) => `'${line.replaceAll("'", "'\\''")}'`).join(' ')} >&2`;
  if (!unsignedOnly) return `${print([...head, `- ${message}`, ''])}\nstatus=1\n`;
  return `unsigned=$(git rev-list "$new" --not --all | grep -vxFf '${signedFile}')
if [ -n "$unsigned" ]; then
${print([...head, `- ${message}`])}
printf '  Found %s violation:\\n\\n  %s\\n\\n' "$(echo "$unsigned" | wc -l | tr -d ' ')" "$unsigned" >&2
status=1
fi
`;
}
