import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { TextAnswer } from '../../../http/send-request.ts';
import { toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { readTokenClaims } from './job-identity.ts';
import type { JobRuntime } from './job-runtime.ts';
import { askOnce, askService, unusableError } from './service.ts';

/** An artifact of the run that GitHub has. */
export interface UploadedArtifact {
  readonly id: number;
  /** Bytes. */
  readonly size: number;
}

/**
 * Uploads an archive as an artifact of the run: creates it, sends its blocks to the address that was signed for it,
 * and finishes it. `@actions/artifact` does the same with 2 MB of code, a client of its own for every request, and
 * files on the disk only, so that neither the redaction nor the proxy nor the tests of this tool would hold for it.
 *
 * @param open its bytes, which are never all in memory
 * @see https://learn.microsoft.com/rest/api/storageservices/put-block
 */
export async function uploadArtifact(
  open: () => Promise<Readable>,
  runtime: JobRuntime,
  ports: Ports,
): Promise<UploadedArtifact> {
  const { url, artifact } = await createArtifact(runtime, ports);
  const { size, sha256 } = await sendBlocks(await open(), url, ports);
  const finished = { ...artifact, size: String(size), hash: `sha256:${sha256}` };
  const request = createCall('FinalizeArtifact', finished, runtime);
  const answer = readReply(request, await askService(request, ports));
  const id = Number(answer.artifact_id ?? answer.artifactId);
  if (!Number.isSafeInteger(id) || id <= 0) throw unusableError(request.description);
  return { id, size };
}

/** The name is another one at each attempt: one that arrived without an answer has taken the last one. */
async function createArtifact(
  runtime: JobRuntime,
  ports: Ports,
): Promise<{ readonly url: URL; readonly artifact: Readonly<Record<string, string>> }> {
  const { clock, logger, random } = ports;
  const ids = getRunIds(runtime);
  return withRetries(ports, async () => {
    const artifact = { ...ids, name: `screen-delivery-${Math.floor(random() * 36 ** 8).toString(36)}` };
    const expires_at = new Date(clock.now() + ARTIFACT.life).toISOString();
    const request = createCall('CreateArtifact', { ...artifact, version: 4, expires_at }, runtime);
    const created = readReply(request, await askOnce(request, ports));
    const url = URL.parse(String(created.signed_upload_url ?? created.signedUploadUrl));
    if (url?.protocol !== 'https:') throw unusableError(request.description);
    // Anybody who knows it may write the artifact.
    logger.mask(url.searchParams.get('sig') ?? '');
    logger.mask(/[?&]sig=([^&]+)/.exec(url.search)?.[1] ?? '');
    return { url, artifact };
  });
}

/** The run and the job, as the service for artifacts names them: they are in the token for it. */
function getRunIds({ resultsToken }: JobRuntime): Readonly<Record<string, string>> {
  const scope = /(?:^| )Actions\.Results:([^: ]+):([^: ]+)/.exec(
    String(readTokenClaims(resultsToken).scp ?? ''),
  );
  const [, run, job] = scope ?? [];
  if (run === undefined || job === undefined) throw unusableError('reading the token of the run');
  return { workflow_run_backend_id: run, workflow_job_run_backend_id: job };
}

const CALLS = {
  CreateArtifact: 'creating the artifact of the site',
  FinalizeArtifact: 'finishing the artifact of the site',
} as const;

function createCall(
  method: keyof typeof CALLS,
  body: Readonly<Record<string, unknown>>,
  { resultsUrl, resultsToken }: JobRuntime,
) {
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Bearer ${resultsToken}`,
  };
  return {
    description: CALLS[method],
    expects: 200,
    method: 'POST',
    url: new URL(`/twirp/github.actions.results.api.v1.ArtifactService/${method}`, resultsUrl.origin),
    headers,
    body: () => JSON.stringify(body),
  };
}

function readReply(
  { description }: { readonly description: string },
  { json }: TextAnswer,
): Readonly<Record<string, unknown>> {
  const answer = toFields(json);
  if (answer.ok !== true) throw unusableError(description);
  return answer;
}

/** Sends an archive to a signed address, some blocks at a time. */
async function sendBlocks(
  archive: Readable,
  url: URL,
  ports: Ports,
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  const ids: string[] = [];
  let size = 0;
  const blocks = cutBlocks(archive);
  const sendNext = async (): Promise<void> => {
    for (let next = await blocks.next(); !next.done; next = await blocks.next()) {
      const block = next.value;
      // All ids must be equally long.
      const id = Buffer.from(String(ids.length).padStart(6, '0')).toString('base64');
      ids.push(id);
      size += block.length;
      hash.update(block);
      await put(url, { comp: 'block', blockid: id }, block, ports);
    }
  };
  try {
    await Promise.all(Array.from({ length: ARTIFACT.atOnce }, sendNext));
  } finally {
    archive.destroy();
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join('');
  const text = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
  await put(url, { comp: 'blocklist' }, Buffer.from(text), ports);
  return { size, sha256: hash.digest('hex') };
}

async function* cutBlocks(archive: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of archive as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < ARTIFACT.block) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(chunks);
}

async function put(
  signed: URL,
  query: Readonly<Record<string, string>>,
  bytes: Buffer,
  ports: Ports,
): Promise<void> {
  const url = new URL(signed);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  await askService(
    {
      description: 'uploading the artifact of the site',
      expects: 201,
      method: 'PUT',
      url,
      headers: {
        'content-type': 'application/octet-stream',
        ...(query.comp === 'blocklist' && { 'x-ms-blob-content-type': 'application/zip' }),
      },
      length: bytes.length,
      body: () => Readable.from([bytes], { objectMode: false }),
    },
    ports,
  );
}
