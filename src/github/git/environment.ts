import { readFile, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';

/** Variables that git needs; all others, secrets and tracing above all, are not passed on. */
const PASSED_ON =
  /^(PATH|SYSTEMROOT|(HTTPS?|ALL|NO)_PROXY|GIT_SSL_CAINFO|GIT_SSL_CAPATH|SSL_CERT_FILE|SSL_CERT_DIR)$/i;

/** The environment of a git that uses no settings of the machine or the user, and never prompts for a password. */
export async function createGitEnvironment(folder: string): Promise<Record<string, string>> {
  const passedOn = Object.entries(process.env).filter(
    (pair): pair is [string, string] => PASSED_ON.test(pair[0]) && pair[1] !== undefined,
  );
  return {
    PATH: '',
    ...Object.fromEntries(passedOn),
    // Here git finds neither .netrc nor .config of the user.
    HOME: folder,
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(await getCertificates(folder)),
  };
}

/** Settings as environment variables: they are in no file and on no command line. */
export function formatGitSettings(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(settings.length) };
}

/** Node adds extra certificates to its own; git reads a single file, so all of them are written into one. */
async function getCertificates(folder: string): Promise<Record<string, string>> {
  const { GIT_SSL_CAINFO, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
  const files = [SSL_CERT_FILE, NODE_EXTRA_CA_CERTS].filter((path) => path !== undefined && path !== '');
  if ((GIT_SSL_CAINFO ?? '') !== '' || files.length === 0) return {};
  // Like Node, ignore a file that cannot be read.
  const reads = files.map((path) => readFile(path as string, 'utf8').catch(() => ''));
  const bundle = join(folder, 'delivery-authorities.pem');
  await writeFile(bundle, [...rootCertificates, ...(await Promise.all(reads))].join('\n'));
  return { GIT_SSL_CAINFO: bundle };
}
