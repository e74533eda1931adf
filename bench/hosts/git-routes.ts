import { execFile, spawn } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBackendEnvironment } from '../../__tests__/world/git/backend-environment.ts';
import { type BenchCall, type BenchRoute, OWNER, REPOSITORY, sendJson } from './route.ts';

/** Real git for github.com, for files that the object API refuses. */
export function createGitRoutes(repository: string): BenchRoute[] {
  return ['GET', 'POST'].map((method) => ({
    host: 'github.com',
    method,
    path: new RegExp(`^/${OWNER}/${REPOSITORY}\\.git(/info/refs|/git-upload-pack|/git-receive-pack)$`),
    serve: (call) => runGitBackend(repository, call),
  }));
}

async function runGitBackend(
  repository: string,
  { request, response, query, parts: [service = ''] }: BenchCall,
): Promise<void> {
  const { headers, method = 'GET' } = request;
  const child = spawn('git', ['http-backend'], {
    env: createBackendEnvironment(repository, { method, service, query, headers }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  let head = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (response.headersSent) {
      response.write(chunk);
      continue;
    }
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) continue;
    for (const line of head.slice(0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/, 2);
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(Buffer.from(head.slice(end + 4), 'latin1'));
  }
  response.end();
}

/** The object id of a name in git, such as `main` or `main:<path>`, if there is one. */
export async function findInGit(repository: string, name: string): Promise<string | undefined> {
  const found = promisify(execFile)('git', ['-C', repository, 'rev-parse', '--verify', '-q', name]);
  return found.then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Sends a file of the branch, or 404. */
export async function sendFromGit(repository: string, path: string, response: ServerResponse): Promise<void> {
  const name = `main:${path}`;
  try {
    const size = await promisify(execFile)('git', ['-C', repository, 'cat-file', '-s', name]);
    response.writeHead(200, { 'content-length': size.stdout.trim() });
  } catch {
    return sendJson(response, 404, { message: 'Not Found' });
  }
  const child = spawn('git', ['-C', repository, 'cat-file', 'blob', name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await pipeline(child.stdout, response);
}
