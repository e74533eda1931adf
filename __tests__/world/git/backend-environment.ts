import type { IncomingHttpHeaders } from 'node:http';
import { devNull } from 'node:os';

/** An HTTP request for `git http-backend`. */
export interface BackendRequest {
  readonly method: string;
  /** Such as `/git-receive-pack`. */
  readonly service: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** The CGI variables of `git http-backend` for a repository: its path, nothing of the machine's own settings. */
export function createBackendEnvironment(
  directory: string,
  { method, service, query, headers }: BackendRequest,
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    GIT_DIR: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_PROJECT_ROOT: directory,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    PATH_INFO: service,
    REQUEST_METHOD: method,
    QUERY_STRING: query.toString(),
    CONTENT_TYPE: headers['content-type'] ?? '',
    CONTENT_LENGTH: headers['content-length'] ?? '',
    HTTP_CONTENT_ENCODING: String(headers['content-encoding'] ?? ''),
    REMOTE_USER: 'x-access-token',
  };
}
