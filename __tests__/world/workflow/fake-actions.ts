import { chmod, readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { writeFiles } from '../runner.ts';
import type { GitHubWorld } from '../world.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { PermissionGrants } from './definition.ts';
import type { WorkflowEvent } from './event.ts';
import { DEPLOYERS } from './fake-deployers.ts';
import { makeRelease } from './fake-release-action.ts';

/** The input of a fake action. */
export interface ActionContext {
  readonly world: GitHubWorld;
  readonly inputs: Readonly<Record<string, string>>;
  readonly workspace: string;
  readonly event: WorkflowEvent;
  readonly runId: number;
  readonly grants: PermissionGrants;
  readonly token: string;
  readonly artifacts: ArtifactStore;
}

/** A fake, and its outputs. */
export interface FakeAction {
  /** The supported inputs; a step with others is refused. */
  readonly inputs: readonly string[];
  // biome-ignore lint/suspicious/noConfusingVoidType: most have no outputs.
  readonly run: (context: ActionContext) => Promise<Readonly<Record<string, string>> | void>;
}

/** GitHub's own actions and those of others, as far as the examples use them. */
const FAKE_ACTIONS: Readonly<Record<string, FakeAction>> = {
  'actions/checkout': { inputs: ['persist-credentials'], run: checkOutFiles },
  'actions/upload-artifact': {
    inputs: ['name', 'path', 'if-no-files-found', 'retention-days'],
    run: ({ inputs: { name = 'artifact', path = '' }, workspace, runId: run, artifacts }) =>
      artifacts.save(run, name, join(workspace, path)),
  },
  'actions/download-artifact': {
    inputs: ['name', 'pattern', 'merge-multiple', 'path', 'run-id', 'github-token'],
    run: downloadArtifacts,
  },
  'actions/attest': { inputs: ['predicate-type', 'predicate-path', 'subject-checksums'], run: attest },
  'softprops/action-gh-release': { inputs: ['generate_release_notes'], run: makeRelease },
  ...DEPLOYERS,
};

/** Finds the fake of an action. An unknown action or input is an error of the test, not of the step. */
export function findFakeAction(uses: string, inputs: readonly string[]): FakeAction['run'] {
  const fakeAction = FAKE_ACTIONS[uses.replace(/@.*$/, '')];
  if (fakeAction === undefined) throw new Error(`${uses} is not supported here.`);
  const unknown = inputs.find((name) => !fakeAction.inputs.includes(name));
  if (unknown !== undefined) throw new Error(`\`${unknown}\` of ${uses} is not supported here.`);
  return fakeAction.run;
}

/** Leaves what would be signed as `attestation.json`. */
async function attest({ inputs, grants, workspace }: ActionContext): Promise<void> {
  if (grants['id-token'] !== 'write' || grants.attestations !== 'write') {
    throw new Error('Signing needs `permissions: { id-token: write, attestations: write }`.');
  }
  const read = (name: string): Promise<string> => readFile(join(workspace, inputs[name] ?? ''), 'utf8');
  const subject = (await read('subject-checksums')).trim().split('\n');
  if (!subject.every((line) => /^[0-9a-f]{64} [ *]./.test(line))) throw new Error('A subject has no digest.');
  const predicate = JSON.parse(await read('predicate-path')) as unknown;
  const statement = { subject, predicateType: inputs['predicate-type'], predicate };
  await writeFiles(workspace, { 'attestation.json': JSON.stringify(statement) });
}

async function checkOutFiles({ event, workspace }: ActionContext): Promise<void> {
  const { files, name } = event;
  if (files === undefined) throw new Error(`A run of ${name} has nothing to check out.`);
  await writeFiles(workspace, files);
  for (const [path, file] of Object.entries(files)) {
    if (file.toString().startsWith('#!')) await chmod(join(workspace, path), 0o755);
  }
}

/** Downloads artifacts of this run, or of another run with a token that may read them. */
async function downloadArtifacts({
  inputs,
  workspace,
  runId: run,
  grants,
  token,
  artifacts,
}: ActionContext): Promise<void> {
  const { name, pattern = '*', path = '.', 'run-id': otherRun, 'github-token': given } = inputs;
  if (otherRun !== undefined && (given !== token || grants.actions !== 'read')) {
    throw new Error("Another run's artifacts need `github-token` and `permissions: { actions: read }`.");
  }
  const source = otherRun === undefined ? run : Number(otherRun);
  const all = await artifacts.listNames(source);
  const wanted = all.filter((one) => (name === undefined ? matchesGlob(one, pattern) : one === name));
  if (wanted.length === 0) throw new Error(`Run ${source} has no such artifact.`);
  const merged = name !== undefined || inputs['merge-multiple'] === 'true';
  for (const one of wanted) {
    await artifacts.download(source, one, merged ? join(workspace, path) : join(workspace, path, one));
  }
}
