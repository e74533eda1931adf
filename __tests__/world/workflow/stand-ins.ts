import { chmod } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { writeFiles } from '../runner.ts';
import type { Artifacts } from './artifacts.ts';
import type { Grants } from './definition.ts';
import type { Occasion } from './occasion.ts';

/** What an action of others finds. */
export interface Place {
  readonly inputs: Readonly<Record<string, string>>;
  readonly workspace: string;
  readonly occasion: Occasion;
  readonly run: number;
  readonly grants: Grants;
  readonly token: string;
  readonly artifacts: Artifacts;
}

interface StandIn {
  /** The inputs that it knows; a step that says more is refused. */
  readonly inputs: readonly string[];
  readonly play: (place: Place) => Promise<void>;
}

/** GitHub's own actions, as far as the examples use them. */
const STAND_INS: Readonly<Record<string, StandIn>> = {
  'actions/checkout': { inputs: ['persist-credentials'], play: checkOut },
  'actions/upload-artifact': {
    inputs: ['name', 'path', 'if-no-files-found', 'retention-days'],
    play: ({ inputs: { name = 'artifact', path = '' }, workspace, run, artifacts }) =>
      artifacts.keep(run, name, join(workspace, path)),
  },
  'actions/download-artifact': {
    inputs: ['name', 'pattern', 'merge-multiple', 'path', 'run-id', 'github-token'],
    play: download,
  },
};

/** Plays the action that a step uses. What it doesn't know is a mistake of the test's, and not of the step's. */
export function standInFor(uses: string, inputs: readonly string[]): StandIn['play'] {
  const standIn = STAND_INS[uses.replace(/@.*$/, '')];
  if (standIn === undefined) throw new Error(`${uses} is not played here.`);
  const unknown = inputs.find((name) => !standIn.inputs.includes(name));
  if (unknown !== undefined) throw new Error(`\`${unknown}\` of ${uses} is not played here.`);
  return standIn.play;
}

async function checkOut({ occasion, workspace }: Place): Promise<void> {
  const { files, name } = occasion;
  if (files === undefined) throw new Error(`A run of ${name} has no business to check anything out.`);
  await writeFiles(workspace, files);
  for (const [path, text] of Object.entries(files)) {
    if (text.startsWith('#!')) await chmod(join(workspace, path), 0o755);
  }
}

/** One's own run's artifacts, or another run's with a token that may read them. */
async function download({ inputs, workspace, run, grants, token, artifacts }: Place): Promise<void> {
  const { name, pattern = '*', path = '.', 'run-id': otherRun, 'github-token': given } = inputs;
  if (otherRun !== undefined && (given !== token || grants.actions !== 'read')) {
    throw new Error("Another run's artifacts need `github-token` and `permissions: { actions: read }`.");
  }
  const source = otherRun === undefined ? run : Number(otherRun);
  const all = await artifacts.names(source);
  const wanted = all.filter((one) => (name === undefined ? matchesGlob(one, pattern) : one === name));
  if (wanted.length === 0) throw new Error(`Run ${source} has no such artifact.`);
  const merged = name !== undefined || inputs['merge-multiple'] === 'true';
  for (const one of wanted) {
    await artifacts.fetch(source, one, merged ? join(workspace, path) : join(workspace, path, one));
  }
}
