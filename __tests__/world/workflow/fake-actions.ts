import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, matchesGlob, relative } from 'node:path';
import { createWorldClient } from '../client.ts';
import { DeployedSite } from '../hosts/deployed-site.ts';
import { writeFiles } from '../runner.ts';
import type { GitHubWorld } from '../world.ts';
import type { PermissionGrants } from './definition.ts';
import type { WorkflowEvent } from './event.ts';

type Files = Readonly<Record<string, Buffer>>;

/** The input of a fake action. */
export interface ActionContext {
  readonly world: GitHubWorld;
  readonly inputs: Readonly<Record<string, string>>;
  readonly workspace: string;
  readonly event: WorkflowEvent;
  readonly runId: number;
  readonly grants: PermissionGrants;
  readonly token: string;
  /** The files of all runs' artifacts, by `<run>/<name>`. */
  readonly artifacts: Map<string, Files>;
}

interface FakeAction {
  /** The supported inputs; a step with others is refused. */
  readonly inputs: readonly string[];
  // biome-ignore lint/suspicious/noConfusingVoidType: most have no outputs.
  readonly run: (context: ActionContext) => Promise<Readonly<Record<string, string>> | void>;
}

/** The artifact that `actions/deploy-pages` deploys. */
const PAGES_ARTIFACT = 'github-pages';

/** GitHub's own actions and those of others, as far as the examples use them. */
const FAKE_ACTIONS: Readonly<Record<string, FakeAction>> = {
  'actions/checkout': { inputs: ['persist-credentials'], run: checkOutFiles },
  'actions/upload-artifact': {
    inputs: ['name', 'path', 'if-no-files-found', 'retention-days'],
    run: (context) => saveArtifact(context, context.inputs.name ?? 'artifact'),
  },
  'actions/download-artifact': {
    inputs: ['name', 'pattern', 'merge-multiple', 'path', 'run-id', 'github-token'],
    run: downloadArtifacts,
  },
  'actions/attest': { inputs: ['predicate-type', 'predicate-path', 'subject-checksums'], run: attest },
  'softprops/action-gh-release': { inputs: ['generate_release_notes'], run: makeRelease },
  // Actions that deploy a folder to a host, which serves it as such a host does.
  'actions/upload-pages-artifact': {
    inputs: ['path'],
    run: (context) => saveArtifact(context, PAGES_ARTIFACT),
  },
  'actions/deploy-pages': {
    inputs: [],
    async run({ world, grants, runId, artifacts }) {
      if (grants.pages !== 'write' || grants['id-token'] !== 'write') {
        throw new Error('Ensure GITHUB_TOKEN has permission "id-token: write" and "pages: write".');
      }
      const files = artifacts.get(`${runId}/${PAGES_ARTIFACT}`) ?? {};
      return { page_url: `${deploy(world, files, 'octo-pages.github.io')}/` };
    },
  },
  'nwtgck/actions-netlify': {
    inputs: [
      ...['publish-dir', 'alias', 'enable-pull-request-comment', 'enable-commit-comment'],
      'enable-github-deployment',
    ],
    async run({ world, inputs: { 'publish-dir': folder = '', alias = '' }, workspace }) {
      const files = await readFiles(join(workspace, folder));
      return { 'deploy-url': deploy(world, files, `${alias}--my-site.netlify.app`) };
    },
  },
  'cloudflare/wrangler-action': {
    inputs: ['apiToken', 'accountId', 'command'],
    async run({ world, inputs: { command = '' }, workspace }) {
      const [, folder = '', project = ''] =
        /^pages deploy (\S+) --project-name=(\S+) --branch=\S+$/.exec(command) ?? [];
      const files = await readFiles(join(workspace, folder));
      const url = deploy(world, files, `a1b2c3d4.${project}.pages.dev`, { cleans: true });
      return { 'deployment-url': url };
    },
  },
};

/** Finds the fake of an action. An unknown action or input is an error of the test, not of the step. */
export function findFakeAction(uses: string, inputs: readonly string[]): FakeAction['run'] {
  const fakeAction = FAKE_ACTIONS[uses.replace(/@.*$/, '')];
  if (fakeAction === undefined) throw new Error(`${uses} is not supported here.`);
  const unknown = inputs.find((name) => !fakeAction.inputs.includes(name));
  if (unknown !== undefined) throw new Error(`\`${unknown}\` of ${uses} is not supported here.`);
  return fakeAction.run;
}

async function checkOutFiles({ event, workspace }: ActionContext): Promise<void> {
  const { files, name } = event;
  if (files === undefined) throw new Error(`A run of ${name} has nothing to check out.`);
  await writeFiles(workspace, files);
  for (const [path, file] of Object.entries(files)) {
    if (file.toString().startsWith('#!')) await chmod(join(workspace, path), 0o755);
  }
}

/** A file, or all files of a folder, by path. */
async function readFiles(path: string): Promise<Files> {
  if ((await stat(path)).isFile()) return { [basename(path)]: await readFile(path) };
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const files = paths.map(async (file) => [relative(path, file), await readFile(file)] as const);
  return Object.fromEntries(await Promise.all(files));
}

/** A name can be used once per run. */
async function saveArtifact(
  { inputs, workspace, runId, artifacts }: ActionContext,
  name: string,
): Promise<void> {
  const key = `${runId}/${name}`;
  if (artifacts.has(key)) throw new Error(`There is an artifact ${name} already.`);
  artifacts.set(key, await readFiles(join(workspace, inputs.path ?? '')));
}

/** Downloads artifacts of this run, or of another run with a token that may read them. */
async function downloadArtifacts(context: ActionContext): Promise<void> {
  const { inputs, workspace, runId, grants, token, artifacts } = context;
  const { name, pattern = '*', path = '.', 'run-id': otherRun, 'github-token': given } = inputs;
  if (otherRun !== undefined && (given !== token || grants.actions !== 'read')) {
    throw new Error("Another run's artifacts need `github-token` and `permissions: { actions: read }`.");
  }
  const wanted = [...artifacts].filter(([key]) =>
    matchesGlob(key, `${otherRun ?? runId}/${name ?? pattern}`),
  );
  if (wanted.length === 0) throw new Error(`Run ${otherRun ?? runId} has no such artifact.`);
  const isMerged = name !== undefined || inputs['merge-multiple'] === 'true';
  for (const [key, files] of wanted) {
    await writeFiles(join(workspace, path, isMerged ? '.' : basename(key)), files);
  }
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

/**
 * Plays `softprops/action-gh-release` without files: it sends the requests that version 3.0.0 sent to the local
 * GitHub, except that it writes the notes itself. A release that exists is updated, and keeps its assets.
 */
async function makeRelease({ inputs, event, token, world }: ActionContext): Promise<void> {
  const tag = /^refs\/tags\/(.+)$/.exec(event.ref)?.[1];
  if (tag === undefined) throw new Error('GitHub Releases requires a tag');
  const send = createWorldClient(world, token);
  const call = async (method: string, path: string, body: object | null = null) => {
    const answer = await send(`${method} /repos/${event.repository.fullName}/releases${path}`, body);
    if (answer.status >= 400 && answer.status !== 404) throw new Error(`${method}: HTTP ${answer.status}`);
    return answer;
  };
  const notes = inputs.generate_release_notes === 'true' ? `**Full Changelog** of ${tag}` : '';
  const wanted = { tag_name: tag, name: tag, body: notes };
  const existing = await call('GET', `/tags/${tag}`);
  if (existing.status === 200) {
    await call('PATCH', `/${existing.json.id}`, wanted);
    return;
  }
  const created = await call('POST', '', { ...wanted, draft: true });
  if (created.status !== 201) throw new Error('The token may not create a release.');
  await call('GET', '?per_page=100');
  await call('PATCH', `/${created.json.id}`, { draft: false });
}

/** Serves files at a host, and returns its address, without a slash at its end. */
function deploy(
  world: GitHubWorld,
  files: Files,
  host: string,
  habits: ConstructorParameters<typeof DeployedSite>[1] = {},
): string {
  world.host(host, new DeployedSite(files, habits).answer);
  return `https://${host}`;
}
