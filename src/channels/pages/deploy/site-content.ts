import { addAbortSignal, type Readable } from 'node:stream';
import { DeliveryError, toMessage } from '../../../errors.ts';
import { listEntries } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { RETRY_HINT } from '../../../github/refusals.ts';
import { connectionError } from '../../../http/client.ts';
import { discard } from '../../../http/response.ts';
import type { Ports } from '../../../ports.ts';
import { EXCHANGE } from '../../../protocol/limits.ts';
import { createBlobHash, type GitBlob } from '../../../rules/fingerprint.ts';
import { refuseLargeSite } from '../../../rules/local-site.ts';
import { DEPLOY_RECORD_PATH } from '../../../rules/special-files.ts';
import { formatDeployRecord } from './deploy-record.ts';
import type { DeployRecord } from './receipt-history.ts';
import type { ArchivedFile, ArchivedFiles } from './site-archive.ts';

/** Only sites that GitHub Actions deploys need this code. `eager` keeps the bundle one file. */
const loadSiteArchive = (): Promise<typeof import('./site-archive.ts')> =>
  import(/* webpackMode: "eager" */ './site-archive.ts');

export interface SiteContent {
  readonly deployRecord: DeployRecord;
  readonly leftOut: readonly string[];
  /** Files without the deploy record; read each to its end before the next one. */
  open(): ArchivedFiles;
}

/** Git and GitHub use these files; they aren't content. */
const NO_PART = /^\.(git(attributes|ignore|modules)$|github\/)/;

/** Makes a whole site of a commit's files. @throws {DeliveryError} if Pages can't serve that much */
export async function contentOfCommit(
  github: GitHubClient,
  branch: string,
  commit: string,
  ports: Ports,
): Promise<SiteContent> {
  const files = new Map<string, GitBlob>();
  const leftOut: string[] = [];
  for (const [path, { type, mode, sha, size }] of await listEntries(github, commit)) {
    if (mode === '120000' || type === 'commit' || path === DEPLOY_RECORD_PATH) leftOut.push(path);
    else if (type === 'blob' && !NO_PART.test(path)) files.set(path, { sha, size });
  }
  const about = { id: `branch ${branch}`, before: [], deliveries: [] };
  const deployRecord = { ...about, branch, commit, files };
  refuseLarge(deployRecord);
  return { deployRecord, leftOut, open: () => readCommit(github, deployRecord, ports) };
}

export const sizeOf = ({ files }: DeployRecord): number =>
  [...files.values()].reduce((sum, { size }) => sum + size, 0);

export const refuseLarge = (deployRecord: DeployRecord): void =>
  refuseLargeSite(sizeOf(deployRecord), 'the site would have', 'remove large files from the site');

/**
 * Streams a commit as a tar archive: two requests for any number of files. The archive's URL holds a credential, so
 * it gets no token and is never shown.
 * @see https://docs.github.com/rest/repos/contents#download-a-repository-archive-tar
 */
async function openArchive(
  { rest, repository }: GitHubClient,
  commit: string,
  { http, clock, logger, signal }: Ports,
): Promise<Readable> {
  const { headers } = await rest.repos.downloadTarballArchive({ ...repository, ref: commit });
  const url = new URL(String(headers.location));
  for (const value of url.searchParams.values()) logger.mask(value);
  try {
    const response = await http({ method: 'GET', url, headers: { accept: '*/*' }, signal });
    if (response.status === 200) return addAbortSignal(clock.timeout(EXCHANGE.archive), response.body);
    discard(response);
    throw archiveError(`failed with HTTP ${response.status}`, response.status);
  } catch (thrown) {
    throw connectionError(thrown, { url, signal });
  }
}

const archiveError = (problem: string, httpCode?: number): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the archive of the branch ${problem}`, {
    httpCode,
    hint: RETRY_HINT,
    retryable: true,
  });

const brokenArchiveError = (thrown: unknown): DeliveryError =>
  thrown instanceof DeliveryError ? thrown : archiveError(`was not complete: ${toMessage(thrown)}`);

/** Reads a commit's files from its archive, and checks them against its tree. */
async function* readCommit(github: GitHubClient, { commit, files }: DeployRecord, ports: Ports) {
  if (files.size === 0) return;
  const { readArchive } = await loadSiteArchive();
  const missing = new Map(files);
  try {
    for await (const file of readArchive(await openArchive(github, commit, ports))) {
      const expected = missing.get(file.path);
      if (expected === undefined) continue;
      missing.delete(file.path);
      if (expected.size !== file.size) throw otherFileError(file.path);
      yield { ...file, read: () => checkBlob(file, expected) };
    }
  } catch (thrown) {
    ports.signal.throwIfAborted();
    throw brokenArchiveError(thrown);
  }
  const [absentPath] = missing.keys();
  if (absentPath !== undefined) throw otherFileError(absentPath);
}

async function* checkBlob({ path, size, read }: ArchivedFile, { sha }: GitBlob): AsyncGenerator<Uint8Array> {
  const hash = createBlobHash(size);
  try {
    for await (const chunk of read()) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (thrown) {
    throw brokenArchiveError(thrown);
  }
  if (hash.digest('hex') !== sha) throw otherFileError(path);
}

const otherFileError = (path: string): DeliveryError =>
  new DeliveryError('BAD_FILE', `the archive of the branch has another ${path} than the branch`, {
    hint: 'remove `export-ignore` and `export-subst` from the `.gitattributes` of the branch, and try again',
  });

export async function packContent(content: SiteContent, now: number): Promise<AsyncGenerator<Uint8Array>> {
  const { packSite } = await loadSiteArchive();
  const bytes = formatDeployRecord(content.deployRecord);
  async function* withDeployRecord(): AsyncGenerator<ArchivedFile> {
    yield* content.open();
    yield { path: DEPLOY_RECORD_PATH, size: bytes.length, read: () => [bytes] };
  }
  return packSite(withDeployRecord(), now);
}
