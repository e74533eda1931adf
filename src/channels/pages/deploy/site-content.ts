import { addAbortSignal, type Readable } from 'node:stream';
import { DeliveryError, toMessage } from '../../../errors.ts';
import { listEntries } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import type { FileWrite } from '../../../github/change.ts';
import { RETRY_HINT } from '../../../github/refusals.ts';
import { connectionError } from '../../../http/client.ts';
import { discard } from '../../../http/response.ts';
import type { Ports } from '../../../ports.ts';
import { EXCHANGE } from '../../../protocol/limits.ts';
import { createBlobHash, type GitBlob } from '../../../rules/fingerprint.ts';
import type { LocalFile } from '../../../rules/inspect.ts';
import { refuseLargeSite } from '../../../rules/local-site.ts';
import { DEPLOY_RECORD_PATH } from '../../../rules/special-files.ts';
import { type DeployRecord, formatDeployRecord } from './deploy-record.ts';
import type { ArchivedFile, ArchivedFiles } from './site-archive.ts';

/** Loads the code of archives, which only a site that GitHub Actions deploys needs. `eager` keeps the bundle one file. */
const loadSiteArchive = (): Promise<typeof import('./site-archive.ts')> =>
  import(/* webpackMode: "eager" */ './site-archive.ts');

/** All of a site, as it is to be deployed. */
export interface SiteContent {
  readonly deployRecord: DeployRecord;
  /** What the branch has besides, and GitHub Pages does not take. */
  readonly leftOut: readonly string[];
  /** Its files without the receipt, each to be read to its end before the next one. */
  open(): ArchivedFiles;
}

/** Files of this machine as a whole site. @param commit of the run */
export function contentOfFiles(files: readonly FileWrite<LocalFile>[], commit: string): SiteContent {
  const blobs = files.map(
    ({ path, file }) => [path, { sha: file.blobSha || file.sha256, size: file.size }] as const,
  );
  const deployRecord = { branch: null, commit, files: new Map<string, GitBlob>(blobs) };
  refuseLarge(deployRecord);
  return {
    deployRecord,
    leftOut: [],
    open: () => files.map(({ path, file }) => ({ path, size: file.size, read: () => file.pieces() })),
  };
}

/** What git and GitHub read is no part of a site's content. */
const NO_PART = /^\.(git(attributes|ignore|modules)$|github\/)/;

/** The files of a commit as a whole site. @throws {DeliveryError} for more than Pages serves */
export async function contentOfCommit(
  github: GitHubClient,
  branch: string,
  commit: string,
  ports: Ports,
): Promise<SiteContent> {
  const files = new Map<string, GitBlob>();
  const leftOut: string[] = [];
  for (const [path, { type, mode, sha, size }] of await listEntries(github, commit)) {
    // A symbolic link or a submodule.
    if (mode === '120000' || type === 'commit' || path === DEPLOY_RECORD_PATH) leftOut.push(path);
    else if (type === 'blob' && !NO_PART.test(path)) files.set(path, { sha, size });
  }
  const deployRecord = { branch, commit, files };
  refuseLarge(deployRecord);
  return { deployRecord, leftOut, open: () => readCommit(github, deployRecord, ports) };
}

/** Bytes of all files of a site. */
export const sizeOf = ({ files }: DeployRecord): number =>
  [...files.values()].reduce((sum, { size }) => sum + size, 0);

const refuseLarge = (deployRecord: DeployRecord): void =>
  refuseLargeSite(sizeOf(deployRecord), 'the site would have', 'remove large files from the site');

/**
 * All files of a commit as one packed tar stream: two requests, however many files there are. The address that the API
 * names holds a credential of its own, so it gets no token and is shown to nobody.
 *
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

/** Reads the files of a commit from its archive, and checks that they are those of its tree. */
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
  const [left] = missing.keys();
  if (left !== undefined) throw otherFileError(left);
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
  new DeliveryError('BAD_FILE', `the archive of the branch has not the ${path} that the branch has`, {
    hint: 'remove `export-ignore` and `export-subst` from the `.gitattributes` of the branch, and try again',
  });

/** The site with its receipt, packed for GitHub Pages. */
export async function packContent(content: SiteContent, now: number): Promise<AsyncGenerator<Uint8Array>> {
  const { packSite } = await loadSiteArchive();
  const bytes = formatDeployRecord(content.deployRecord);
  async function* withDeployRecord(): AsyncGenerator<ArchivedFile> {
    yield* content.open();
    yield { path: DEPLOY_RECORD_PATH, size: bytes.length, read: () => [bytes] };
  }
  return packSite(withDeployRecord(), now);
}
