import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { FindRepository } from '../api/host.ts';
import { decodeComponent, type HostHandler, replyText } from '../server/messages.ts';

/** The credential in the addresses of archives. */
export const ARCHIVE_TOKEN = 'AARCHIVETOKENQ7XKPL2MZ4WBT5Y';

/** Simulates codeload.github.com: a commit's files as a packed tar archive, for clients that the API redirected. */
export function createCodeloadHost(find: FindRepository): HostHandler {
  return async ({ path, query, headers }) => {
    const [, owner = '', name = '', , ref = ''] = path.split('/').map(decodeComponent);
    const repository = find(owner, name);
    const commit = repository?.git.resolve(ref) ?? null;
    if (repository === undefined || commit === null) return replyText(404, '404: Not Found');
    if (headers.authorization !== undefined || query.get('token') !== ARCHIVE_TOKEN)
      return replyText(404, '404: Not Found');
    const archive = pack();
    const folder = `${owner}-${name}-${commit.slice(0, 7)}`;
    archive.entry({ name: `${folder}/`, type: 'directory' });
    const entries = repository.git.listTree(commit, { recursive: true });
    const attributes = entries.find((one) => one.path === '.gitattributes');
    const settings = attributes === undefined ? '' : String(repository.git.readBlob(attributes.sha));
    for (const { path: file, sha, type, mode } of entries) {
      // `git archive` skips files with this attribute; this server only knows whole paths.
      if (type !== 'blob' || settings.includes(`${file} export-ignore`)) continue;
      const blob = repository.git.readBlob(sha);
      // The replacement that `git archive` inserts.
      const isChanged = settings.includes(`${file} export-subst`);
      const bytes = isChanged ? Buffer.from(blob.toString().toUpperCase()) : blob;
      const entry = { name: `${folder}/${file}` };
      if (mode === '120000') archive.entry({ ...entry, type: 'symlink', linkname: bytes.toString() });
      else archive.entry(entry, bytes);
    }
    archive.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);
    const body = gzipSync(Buffer.concat(chunks));
    return { status: 200, headers: { 'content-type': 'application/x-gzip' }, body };
  };
}
