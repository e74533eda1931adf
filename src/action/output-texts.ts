/** The outputs of the action, with their descriptions. */
export const OUTPUTS = {
  url: 'The verified https URL, one line per file. Empty unless the result is ready. It ends with `?v=…` while a cache still shows an earlier version without it.',
  report: 'The report as text: CLAIM, CODE, TEST, RESULT, UNKNOWN.',
  'report-json':
    'The report as JSON, with `result`, `url`, `reason`, `hint` and `reports`. Its schema is `report.schema.json`.',
  result: '`ready`, `withdrawn`, `audited` (nothing is lost), `planned` (a dry run) or `not-ready`.',
  channel: 'The channel that was used, such as `K1`. One line per file, like all outputs below.',
  'raw-url': 'K1 only. The verified raw URL. Empty if it could not be verified.',
  'duplicate-url': 'The verified URLs of the duplicates, one per line.',
  'commit-sha': 'K1 only. The commit that contains the file.',
  sha256: 'SHA-256 of the file, or of the entry page of a folder, in lowercase hex.',
  size: 'Size in bytes. For a folder: of all its files together.',
  files: 'Number of delivered files, including the files in folders.',
  screen:
    '`shown`, `not-shown` or `not-checked`: what a browser saw of the page. Empty if no browser check was requested.',
  receipt:
    'Path of the receipt, an in-toto Statement: the verified URLs with the SHA-256 of what they returned. Empty unless the result is ready.',
  'picture-url': 'The verified URL of the picture of the page. Empty unless `picture: true`.',
} as const;

export type OutputName = keyof typeof OUTPUTS;
