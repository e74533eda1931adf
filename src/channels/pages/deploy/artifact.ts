import { createHash } from 'node:crypto';
import { toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { askService, type JobRuntime, readTokenClaims, unusableError } from './job-runtime.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Uploads an archive as an artifact of the run. `@actions/artifact` adds 2 MB of code and bypasses this tool's
 * redaction and proxy.
 * @returns the artifact's id, and its size in bytes
 * @see https://learn.microsoft.com/rest/api/storageservices/put-block
 */
export async function uploadArtifact(
  open: () => Promise<AsyncGenerator<Uint8Array>>,
  runtime: JobRuntime,
  ports: Ports,
): Promise<{ readonly id: number; readonly size: number }> {
  const { clock, logger, random } = ports;
  // The token's scope holds the service's ids of run and job.
  const scopes = String(readTokenClaims(runtime.resultsToken).scp ?? '');
  const [, run, job] = /(?:^| )Actions\.Results:([^: ]+):([^: ]+)/.exec(scopes) ?? [];
  const ids = { workflow_run_backend_id: run, workflow_job_run_backend_id: job };
  // A lost answer may have taken the last name, so each attempt uses a new one.
  const { url, artifact } = await withRetries(ports, async () => {
    const named = { ...ids, name: `screen-delivery-${Math.floor(random() * 36 ** 8).toString(36)}` };
    const expires_at = new Date(clock.date() + ARTIFACT.life).toISOString();
    const created = await call('CreateArtifact', { ...named, version: 4, expires_at }, runtime, ports);
    const signed = URL.parse(String(created.signed_upload_url ?? created.signedUploadUrl));
    if (signed?.protocol !== 'https:') throw unusableError(CALLS.CreateArtifact);
    return { url: signed, artifact: named };
  });
  // The signature allows anybody to write the artifact.
  logger.mask(url.searchParams.get('sig') ?? '');
  logger.mask(/[?&]sig=([^&]+)/.exec(url.search)?.[1] ?? '');
  const { size, sha256 } = await sendBlocks(await open(), url, ports);
  const finished = { ...artifact, size: String(size), hash: `sha256:${sha256}` };
  const answer = await withRetries(ports, () => call('FinalizeArtifact', finished, runtime, ports));
  return { id: Number(answer.artifact_id ?? answer.artifactId), size };
}

const CALLS = {
  CreateArtifact: 'creating the artifact of the site',
  FinalizeArtifact: 'finishing the artifact of the site',
} as const;

async function call(
  method: keyof typeof CALLS,
  body: Fields,
  { resultsUrl, resultsToken }: JobRuntime,
  ports: Ports,
): Promise<Fields> {
  const description = CALLS[method];
  const request = {
    description,
    expects: 200,
    method: 'POST',
    url: new URL(`/twirp/github.actions.results.api.v1.ArtifactService/${method}`, resultsUrl.origin),
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${resultsToken}`,
    },
    body: () => JSON.stringify(body),
  };
  const answer = toFields((await askService(request, ports)).json);
  if (answer.ok !== true) throw unusableError(description);
  return answer;
}

async function sendBlocks(archive: AsyncGenerator<Uint8Array>, url: URL, ports: Ports) {
  const hash = createHash('sha256');
  const ids: string[] = [];
  let size = 0;
  const spare: Buffer[] = [];
  const blocks = cutBlocks(archive, spare);
  const sendNext = async (): Promise<void> => {
    for (let next = await blocks.next(); !next.done; next = await blocks.next()) {
      const block = next.value;
      // Azure requires ids of equal length.
      const id = Buffer.from(String(ids.length).padStart(6, '0')).toString('base64');
      ids.push(id);
      size += block.length;
      hash.update(block);
      await put(url, { comp: 'block', blockid: id }, block, ports);
      spare.push(block);
    }
  };
  try {
    await Promise.all(Array.from({ length: ARTIFACT.atOnce }, sendNext));
  } finally {
    await blocks.return(undefined);
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join('');
  const text = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
  await put(url, { comp: 'blocklist' }, Buffer.from(text), ports);
  return { size, sha256: hash.digest('hex') };
}

async function* cutBlocks(archive: AsyncIterable<Uint8Array>, spare: Buffer[]): AsyncGenerator<Buffer> {
  const nextBlock = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(ARTIFACT.block);
  let block = nextBlock();
  let filled = 0;
  for await (const chunk of archive) {
    for (let rest = chunk; rest.length > 0; ) {
      const part = rest.subarray(0, block.length - filled);
      block.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
      if (filled < block.length) continue;
      yield block;
      block = nextBlock();
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

async function put(signed: URL, query: Record<string, string>, bytes: Buffer, ports: Ports): Promise<void> {
  const url = new URL(signed);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const request = {
    description: 'uploading the artifact of the site',
    expects: 201,
    method: 'PUT',
    url,
    headers: {
      'content-type': 'application/octet-stream',
      ...(query.comp === 'blocklist' && { 'x-ms-blob-content-type': 'application/zip' }),
    },
    length: bytes.length,
    body: () => bytes,
  };
  await withRetries(ports, () => askService(request, ports));
}
