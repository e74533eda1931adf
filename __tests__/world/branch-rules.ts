/** Rules of a branch: of a ruleset, or classic protection, which no list shows and which has other messages. */
export type BranchRule = 'pull-request' | 'signatures' | 'classic-signatures';

interface RuleWords {
  readonly message: string;
  /** Whether only commits without a signature are refused. */
  readonly unsignedOnly: boolean;
  /** The type that the API's list of a branch's rules has; that list leaves out classic protection. */
  readonly type: string | null;
}

const SIGNATURES = { message: 'Commits must have verified signatures.', unsignedOnly: true };

export const BRANCH_RULES: Readonly<Record<BranchRule, RuleWords>> = {
  'pull-request': {
    message: 'Changes must be made through a pull request.',
    unsignedOnly: false,
    type: 'pull_request',
  },
  signatures: { ...SIGNATURES, type: 'required_signatures' },
  'classic-signatures': { ...SIGNATURES, type: null },
};

export function refuseContents(rule: BranchRule, change: 'create' | 'update'): string {
  const { type, message } = BRANCH_RULES[rule];
  return type === null ? `Could not ${change} file: ${message}` : refuseRefUpdate(rule);
}

export function refuseRefUpdate(rule: BranchRule): string {
  const { type, message } = BRANCH_RULES[rule];
  return type === null ? message : `Repository rule violations found\n\n${message}\n\n`;
}

/** A pre-receive hook that refuses pushes to the branches with the rule. @param signed commits that the host signed */
export function createRuleHook(
  fullName: string,
  rules: ReadonlyMap<string, BranchRule>,
  signed: Iterable<string>,
): string {
  const cases = [...rules].map(
    ([branch, rule]) => `refs/heads/${branch})\n${createRefusal(fullName, branch, rule, signed)};;`,
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

function createRefusal(fullName: string, branch: string, rule: BranchRule, signed: Iterable<string>): string {
  const { type, message, unsignedOnly } = BRANCH_RULES[rule];
  const head =
    type === null
      ? [`error: GH006: Protected branch update failed for refs/heads/${branch}.`, '']
      : [
          `error: GH013: Repository rule violations found for refs/heads/${branch}.`,
          `Review all repository rules at https://github.com/${fullName}/rules?ref=refs%2Fheads%2F${encodeURIComponent(branch)}`,
          '',
        ];
  const print = (...lines: string[]): string =>
    `printf '%s\\n' ${lines.map((line) => `'${line.replaceAll("'", "'\\''")}'`).join(' ')} >&2`;
  if (!unsignedOnly) return `${print(...head, `- ${message}`, '')}\nstatus=1\n`;
  return `unsigned=$(git rev-list "$new" --not --all | grep -vxF -e none ${[...signed].map((sha) => `-e ${sha}`).join(' ')})
if [ -n "$unsigned" ]; then
${print(...head, `- ${message}`)}
printf '  Found %s violation:\\n\\n  %s\\n\\n' "$(echo "$unsigned" | wc -l | tr -d ' ')" "$unsigned" >&2
status=1
fi
`;
}
