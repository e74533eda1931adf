import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT } from '../../../protocol/limits.ts';
import { readTokenClaims } from './job-identity.ts';
import type { JobRuntime } from './job-runtime.ts';
import { askService, unusableError } from './service.ts';

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
 * @param archive its bytes, which are never all in memory
 * @see shared/github.md 15, https://learn.microsoft.com/rest/api/storageservices/put-block
 */
export async function uploadArtifact(
  archive: Readable,
  name: string,
  runtime: JobRuntime,
  ports: Ports,
): Promise<UploadedArtifact> {
  const { clock } = ports;
  const artifact = { ...getRunIds(runtime), name };
  const expires_at = new Date(clock.now() + ARTIFACT.life).toISOString();
  const created = await callResults(
    'CreateArtifact',
    { ...artifact, version: 4, expires_at },
    runtime,
    ports,
  );
  const address = created.signed_upload_url ?? created.signedUploadUrl;
  const url = URL.parse(String(address));
  if (url?.protocol !== 'https:') throw unusableError(CALLS.CreateArtifact);
  // Whoever knows it may write the artifact.
  for (const value of [url.searchParams.get('sig'), /[?&]sig=([^&]+)/.exec(url.search)?.[1]]) {
    ports.logger.mask(value ?? '');
  }
  const { size, sha256 } = await sendBlocks(archive, url, ports);
  const finished = { ...artifact, size: String(size), hash: `sha256:${sha256}` };
  const answer = await callResults('FinalizeArtifact', finished, runtime, ports);
  const id = Number(answer.artifact_id ?? answer.artifactId);
  if (!Number.isSafeInteger(id) || id <= 0) throw unusableError(CALLS.FinalizeArtifact);
  return { id, size };
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

async function callResults(
  method: keyof typeof CALLS,
  body: Readonly<Record<string, unknown>>,
  { resultsUrl, resultsToken }: JobRuntime,
  ports: Ports,
): Promise<Readonly<Record<string, unknown>>> {
  const url = new URL(`/twirp/github.actions.results.api.v1.ArtifactService/${method}`, resultsUrl.origin);
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Bearer ${resultsToken}`,
  };
  const request = {
    description: CALLS[method],
    method: 'POST',
    url,
    headers,
    body: () => JSON.stringify(body),
  };
  const answer = toFields((await askService(request, ports)).json);
  if (answer.ok !== true) throw unusableError(CALLS[method]);
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
  const blocks = readBlocks(archive);
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

async function* readBlocks(archive: Readable): AsyncGenerator<Buffer> {
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
