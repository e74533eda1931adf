import { createHash, randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { extract } from 'tar-stream';
import {
  collectBytes,
  type HostHandler,
  type HostReply,
  readJsonBody,
  replyJson,
  replyText,
} from '../server/messages.ts';

/** A job that its runner's services know. */
interface StartedJob {
  readonly run: string;
  readonly job: string;
  readonly resultsToken: string;
  readonly requestToken: string;
  /** The environment that the job names; absent without one. */
  readonly environment: string | undefined;
}

/** An artifact: its blocks, and after its end its bytes. */
interface StoredArtifact {
  readonly name: string;
  readonly run: string;
  readonly signature: string;
  readonly blocks: Map<string, Buffer>;
  bytes: Buffer | null;
  /** 0 until it is finished. */
  id: number;
}

/** The settings of a job. */
interface JobOptions {
  /** False: the job lacks `id-token: write`. */
  readonly identity?: boolean;
  readonly environment?: string | undefined;
  readonly commit?: string;
  readonly repository?: string;
}

const HOSTS = {
  results: 'results-receiver.actions.githubusercontent.com',
  storage: 'productionresultssa0.blob.core.windows.net',
  identity: 'run-actions-1-azure-eastus.actions.githubusercontent.com',
} as const;

const SERVICE = '/twirp/github.actions.results.api.v1.ArtifactService/';

/**
 * What a job's runner offers to an action: the service for artifacts with its storage, and the one for the job's
 * identity.
 *
 * @see https://github.com/actions/toolkit/tree/main/packages/artifact
 */
export class FakeActionsService {
  /** Every id token that was given. */
  readonly idTokens: string[] = [];
  /** Every signature of an upload address. */
  readonly signatures: string[] = [];
  readonly artifacts: StoredArtifact[] = [];
  readonly #jobs: StartedJob[] = [];
  readonly #identities = new Map<string, StartedJob>();
  readonly #nextId: () => number;

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  readonly hosts: readonly (readonly [string, HostHandler])[] = [
    [HOSTS.results, (request) => this.#answerResults(request)],
    [HOSTS.storage, (request) => this.#store(request)],
    [HOSTS.identity, (request) => this.#identify(request.headers.authorization ?? '', request.query)],
  ];

  /** The variables that the runner sets for an action of a job. */
  startJob(options: JobOptions = {}): Record<string, string> {
    const { identity = true, commit = '', repository = '' } = options;
    const environment = 'environment' in options ? options.environment : 'github-pages';
    const [run, job] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    const resultsToken = createToken({ scp: `Actions.ExampleScope Actions.Results:${run}:${job}` });
    const started = { run, job, environment, resultsToken, requestToken: createToken({}) };
    this.#jobs.push(started);
    return {
      ACTIONS_RESULTS_URL: `https://${HOSTS.results}/`,
      ACTIONS_RUNTIME_TOKEN: started.resultsToken,
      ...(identity && {
        ACTIONS_ID_TOKEN_REQUEST_URL: `https://${HOSTS.identity}/run/idtoken?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: started.requestToken,
      }),
      ...(commit && { GITHUB_SHA: commit }),
      ...(repository && { GITHUB_REPOSITORY: repository }),
    };
  }

  /** The job of an id token; `null` if no job has it. */
  identify(idToken: string): { readonly environment: string | undefined } | null {
    return this.#identities.get(idToken) ?? null;
  }

  /** The files of an artifact as Pages unpacks it; `null` if it isn't a site's artifact. */
  async open(id: number): Promise<ReadonlyMap<string, Buffer> | null> {
    const bytes = this.artifacts.find((one) => one.id === id)?.bytes ?? null;
    return bytes && unpackSite(bytes);
  }

  #identify(authorization: string, query: URLSearchParams): HostReply {
    const job = this.#jobs.find(({ requestToken }) => authorization === `Bearer ${requestToken}`);
    if (job === undefined || query.get('api-version') !== '2.0')
      return replyJson(401, { message: 'Unauthorized' });
    const { environment } = job;
    const value = createToken({ aud: 'https://github.com/octo', ...(environment && { environment }) });
    this.idTokens.push(value);
    this.#identities.set(value, job);
    return replyJson(200, { count: 1, value });
  }

  async #answerResults(request: Parameters<HostHandler>[0]): Promise<HostReply> {
    const job = this.#jobs.find(
      ({ resultsToken }) => request.headers.authorization === `Bearer ${resultsToken}`,
    );
    if (job === undefined) return replyJson(401, { code: 'unauthenticated', msg: 'no such job' });
    const body = (await readJsonBody(request)) ?? {};
    if (body.workflow_run_backend_id !== job.run || body.workflow_job_run_backend_id !== job.job) {
      return replyJson(403, { code: 'permission_denied', msg: 'another run' });
    }
    const name = String(body.name);
    const existing = this.artifacts.find((one) => one.run === job.run && one.name === name);
    if (request.path === `${SERVICE}CreateArtifact`) {
      if (body.version !== 4) return replyJson(400, { code: 'invalid_argument', msg: 'version' });
      if (existing !== undefined)
        return replyJson(409, { code: 'already_exists', msg: 'an artifact with this name' });
      const signature = `${randomBytes(32).toString('base64')}`;
      this.signatures.push(signature);
      this.artifacts.push({ name, run: job.run, signature, blocks: new Map(), bytes: null, id: 0 });
      const query = new URLSearchParams({ sp: 'cw', sr: 'b', sv: '2024-11-04', sig: signature });
      return replyJson(200, {
        ok: true,
        signed_upload_url: `https://${HOSTS.storage}/actions-results/${name}?${query}`,
      });
    }
    if (existing?.bytes == null) return replyJson(404, { code: 'not_found', msg: 'no such upload' });
    const digest = `sha256:${createHash('sha256').update(existing.bytes).digest('hex')}`;
    if (Number(body.size) !== existing.bytes.length || body.hash !== digest) {
      return replyJson(400, { code: 'invalid_argument', msg: 'size or hash' });
    }
    existing.id ||= this.#nextId();
    return replyJson(200, { ok: true, artifact_id: String(existing.id) });
  }

  async #store({ method, query, headers, body }: Parameters<HostHandler>[0]): Promise<HostReply> {
    const artifact = this.artifacts.find(({ signature }) => signature === query.get('sig'));
    if (artifact === undefined) return replyText(403, 'AuthenticationFailed');
    if (headers.authorization !== undefined) return replyText(400, 'InvalidAuthenticationInfo');
    const bytes = await collectBytes(body);
    if (method !== 'PUT') return replyText(405, 'UnsupportedHttpVerb');
    if (Number(headers['content-length']) !== bytes.length)
      return replyText(411, 'MissingContentLengthHeader');
    if (query.get('comp') === 'block') artifact.blocks.set(query.get('blockid') ?? '', bytes);
    else if (query.get('comp') === 'blocklist') {
      const ids = [...bytes.toString().matchAll(/<Latest>([^<]+)<\/Latest>/g)].map(([, id = '']) => id);
      const missing = ids.some((id) => !artifact.blocks.has(id));
      if (missing) return replyText(400, 'InvalidBlockList');
      artifact.bytes = Buffer.concat(ids.map((id) => artifact.blocks.get(id) ?? Buffer.alloc(0)));
    } else return replyText(400, 'InvalidQueryParameterValue');
    return { status: 201, headers: { 'x-ms-request-id': '1' } };
  }
}

/** A token as the runner's, with claims that anybody may read. */
function createToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signature = randomBytes(48).toString('base64url').replace(/[-_]/g, 'x');
  return [part({ alg: 'RS256' }), part({ ...claims, jti: randomBytes(8).toString('hex') }), signature].join(
    '.',
  );
}

/** How Pages reads an artifact: a zip archive with one tar archive of files and folders. */
async function unpackSite(zip: Buffer): Promise<ReadonlyMap<string, Buffer> | null> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0 || zip.readUInt16LE(end + 10) !== 1) return null;
  const central = zip.readUInt32LE(end + 16);
  const name = zip.toString('utf8', central + 46, central + 46 + zip.readUInt16LE(central + 28));
  if (name !== 'artifact.tar') return null;
  const local = zip.readUInt32LE(central + 42);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + zip.readUInt32LE(central + 20));
  const tar = extract();
  tar.end(zip.readUInt16LE(local + 8) === 0 ? packed : inflateRawSync(packed));
  const files = new Map<string, Buffer>();
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    if (entry.header.type !== 'file' || (entry.header.mode & 0o444) !== 0o444) return null;
    files.set(entry.header.name.replace(/^\.\//, ''), Buffer.concat(chunks));
  }
  return files;
}
