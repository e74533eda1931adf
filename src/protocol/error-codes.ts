/** Every reason why a delivery failed. Code and agents decide by these codes, never by a message. */
export const ERROR_CODES = {
  BAD_INPUT: {
    meaning: "An input is wrong or can't be fulfilled.",
    action: 'Change the input as in `hint`, then try again.',
  },
  BAD_FILE: {
    meaning: 'The file itself must change: it is missing, empty, not self-contained, or contains a secret.',
    action: 'Change the file as in `hint`, then try again. Never work around the refusal of a secret.',
  },
  BAD_USAGE: {
    meaning: 'The command line itself is wrong: an unknown command or flag, a wrong value, or an old Node.',
    action: 'Correct the command as in `hint`. `--help` after a command lists its flags.',
  },
  NO_TOKEN: {
    meaning: 'The channel needs a token, but no token is given.',
    action: 'Set GITHUB_TOKEN, or give a client ID and let the human authorize it, or use K3.',
  },
  NOT_AUTHORIZED: {
    meaning: "The human refused, or didn't enter the code in time.",
    action: 'Do not insist: use K3 or K4, or attach the file.',
  },
  AUTHORIZATION_REQUIRED: {
    meaning: 'A human must first enter a code on a page of GitHub.',
    action: 'Show the human only the code and the page, then continue the same delivery.',
  },
  BAD_TOKEN: {
    meaning: 'The host does not accept the token.',
    action: 'Ask the human for another token, or use K3.',
  },
  NO_PERMISSION: {
    meaning: 'The token may not do this.',
    action: 'Ask the human for the permission that `hint` names, or use K3.',
  },
  NO_NETWORK: {
    meaning: "No host could be reached, so the protocol can't be executed.",
    action: 'Say so, and attach the file. Do not invent a URL.',
  },
  HOST_ERROR: {
    meaning: 'A host answered with an error.',
    action: 'Try once more. If it fails again, follow `hint`.',
  },
  CONNECTION: {
    meaning: 'The connection to a host failed.',
    action: 'Try once more. If it fails again, check proxy and certificates.',
  },
  NOT_FOUND: {
    meaning: 'The repository, branch or file does not exist, or the token may not see it.',
    action: 'Check the repository, the branch and the token.',
  },
  CONFLICT: {
    meaning: 'Somebody else changed the same thing at the same time.',
    action: 'Try again a little later.',
  },
  TAG_USED_UP: {
    meaning: 'The tag belonged to a deleted immutable release, so no release can have it again.',
    action: 'Choose another tag.',
  },
  FORBIDDEN_BY_RULE: {
    meaning: 'A rule of the repository forbids the write.',
    action: 'Follow `hint`, such as another branch or another channel.',
  },
  NEEDS_SIGNATURE: {
    meaning: 'The branch accepts only signed commits.',
    action: 'Use what `hint` names: another branch or another channel.',
  },
  NOT_OURS: {
    meaning: 'Something that this tool did not deliver is already at the destination.',
    action: 'Choose another path, or ask the human.',
  },
  TOO_LARGE: {
    meaning: 'The file is too large for the channel.',
    action: 'Use the channel that `hint` names.',
  },
  RATE_LIMITED: {
    meaning: "The host's rate limit was reached.",
    action: 'Try again later, or use another channel.',
  },
  BUILD_ERRORED: {
    meaning: 'The build of the site failed.',
    action: 'Fix what `reason` quotes, or use K2 or K3.',
  },
  BUILD_TIMEOUT: {
    meaning: 'The site did not show the file in time. The file may already be published.',
    action: 'Try the same again: files that are already published are only verified.',
  },
  NOT_PROVEN: {
    meaning: 'The URL does not show the delivered content.',
    action: 'Give the human no URL. Try again, or use another channel.',
  },
  NOT_SHOWN: {
    meaning: 'The bytes are right, but a browser does not show the page as it should.',
    action: 'Correct what `reason` names: a script throws, a file is missing, or the base path is wrong.',
  },
  NOT_EXTERNAL: {
    meaning:
      'The link does not count as a delivery (a local address), or only a public bin was left for a file that may be private.',
    action: 'Give no such link. Choose the channel and the repository as in `hint`.',
  },
  ABORTED: {
    meaning: 'The delivery was stopped before it was finished.',
    action: 'Read UNKNOWN for what may be left behind, and try again if it is still wanted.',
  },
  LOCAL: {
    meaning: 'This machine refused something: no space, no permission, or too many open files.',
    action: 'Follow `hint` on this machine, then try again.',
  },
  INTERNAL: { meaning: 'A bug in this tool.', action: 'Report it together with the log.' },
} as const satisfies Record<string, { readonly meaning: string; readonly action: string }>;

/** Why a delivery is not ready. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What an agent tells a person instead of a reason that names arguments, records or a protocol. */
export const PLAIN_REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INPUT: 'I made a mistake in my request, and will correct it',
  NO_NETWORK: 'I have no network connection',
  RATE_LIMITED: 'I must wait before I try again',
};
