import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/files.ts';

/** What a step writes into: its outputs and its summary, and what it prints. */
export interface Step {
  /** What the runner hands the step. */
  readonly env: Record<string, string>;
  readonly workspace: string;
  outputs(): Promise<Record<string, string>>;
  summary(): Promise<string>;
  printed(): string;
}

// The summary's path is kept by @actions/core once it has been read: one for all steps of a test file.
let summaryPath: string | undefined;

/** Runs `work` as a step of a job: for the while `process.env` and stdout, which @actions/core uses, are its own. */
export async function inStep<T>(
  env: Readonly<Record<string, string>>,
  work: (step: Step) => Promise<T>,
): Promise<T> {
  const folder = await temporaryFolder();
  const workspace = join(folder, 'workspace');
  const outputPath = join(folder, 'output');
  summaryPath ??= join(await temporaryFolder(), 'summary.md');
  await mkdir(workspace);
  await writeFile(outputPath, '');
  await writeFile(summaryPath, '');
  const path = summaryPath;
  const whole = {
    GITHUB_OUTPUT: outputPath,
    GITHUB_STEP_SUMMARY: path,
    GITHUB_WORKSPACE: workspace,
    GITHUB_REPOSITORY: 'octo/pages-demo',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_RUN_NUMBER: '7',
    GITHUB_WORKFLOW: 'Deliver',
    ...env,
  };
  const before = { ...process.env };
  const { write } = process.stdout;
  let printed = '';
  Object.assign(process.env, whole);
  process.stdout.write = ((text: string) => {
    printed += text;
    return true;
  }) as typeof write;
  try {
    return await work({
      env: whole,
      workspace,
      outputs: async () => parseOutputs(await readFile(outputPath, 'utf8')),
      summary: () => readFile(path, 'utf8'),
      printed: () => printed,
    });
  } finally {
    process.stdout.write = write;
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

/** `name<<delimiter`, the value's lines, the delimiter. */
function parseOutputs(text: string): Record<string, string> {
  const entries = text.matchAll(/^(.+?)<<(ghadelimiter_.+)\n([\s\S]*?)\n\2$/gm);
  return Object.fromEntries([...entries].map(([, name, , value]) => [name, value]));
}

/** Markdown with its entities decoded and without its invisible separators. */
export const shown = (markdown: string): string =>
  markdown
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('\u200b', '')
    .replaceAll('<wbr>', '');
