import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchEnvironment } from './environment.ts';
import { EXISTING_TAG, OWNER, REPOSITORY } from './hosts/route.ts';
import { measureRun, type RunMeasurement } from './measure.ts';

export type BenchChannel = 'k1' | 'k2' | 'k3';

const OWN_BUNDLE = fileURLToPath(new URL('../dist/index.js', import.meta.url));

let runs = 0;

/** A delivery by the unmodified bundle, or by the one that PEER_DIST names, as a runner would start it. */
export async function runBundle(
  environment: BenchEnvironment,
  channel: BenchChannel,
  file: string,
): Promise<RunMeasurement> {
  runs += 1;
  const folder = await mkdtemp(join(environment.folder, 'temp', 'run-'));
  const commandFiles = {
    GITHUB_OUTPUT: join(folder, 'output'),
    GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    GITHUB_STATE: join(folder, 'state'),
    GITHUB_ENV: join(folder, 'env'),
  };
  for (const path of Object.values(commandFiles)) await writeFile(path, '');
  const peer = process.env.PEER_DIST;
  const measured = await measureRun({
    program: process.execPath,
    args: [peer ?? OWN_BUNDLE],
    cwd: join(environment.folder, 'workspace'),
    env: {
      ...environment.env,
      ...commandFiles,
      HOME: folder,
      RUNNER_TEMP: folder,
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: join(environment.folder, 'workspace'),
      GITHUB_REPOSITORY: `${OWNER}/${REPOSITORY}`,
      GITHUB_API_URL: 'https://api.github.com',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REF: 'refs/tags/bench',
      // A runner's own credentials, for which the file is searched as well.
      ACTIONS_RUNTIME_TOKEN: 'benchmark-runtime-token-42.'.repeat(40),
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'benchmark-request-token-43.'.repeat(40),
      ...(peer === undefined ? createOwnInputs(channel, file) : createPeerInputs(file)),
    },
  });
  if (
    peer === undefined &&
    !/^result<<.*\nready$/m.test(await readFile(commandFiles.GITHUB_OUTPUT, 'utf8'))
  ) {
    throw new Error(`the delivery was not ready:\n${measured.output}`);
  }
  return measured;
}

function createOwnInputs(channel: BenchChannel, file: string): Record<string, string> {
  return {
    INPUT_FILE: file,
    INPUT_CHANNEL: channel.toUpperCase(),
    INPUT_TOKEN: 'ghs_benchmarkTokenOfTheLocalHosts0123456789',
    INPUT_PATH: `${runs}-${basename(file)}`,
    INPUT_TAG: EXISTING_TAG,
    'INPUT_POLL-INTERVAL': '0.1',
  };
}

/** The peer's inputs from the environment; `{file}` is replaced by the file, `{run}` by a number. */
function createPeerInputs(file: string): Record<string, string> {
  const inputs = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('INPUT_')
      ? [[name, value.replaceAll('{file}', file).replaceAll('{run}', String(runs))]]
      : [],
  );
  // Other clients use the proxy only with this setting.
  return {
    NODE_USE_ENV_PROXY: '1',
    INPUT_TOKEN: 'ghs_benchmarkTokenOfTheLocalHosts0123456789',
    ...Object.fromEntries(inputs),
  };
}

/** The same upload and download by curl, through the same proxy, with the SHA-256 of what came back. */
export async function runCurl(environment: BenchEnvironment, file: string): Promise<RunMeasurement> {
  runs += 1;
  return measureRun({
    program: 'sh',
    args: ['-ec', CURL, 'sh', file, `https://filebin.net/curl-${runs}/file`],
    cwd: environment.folder,
    env: {
      PATH: environment.env.PATH ?? '',
      https_proxy: environment.proxy,
      CURL_CA_BUNDLE: environment.certFile,
    },
  });
}

const CURL = `
  curl --silent --show-error --fail --output /dev/null -H 'Expect:' -H 'Content-Type: application/octet-stream' \\
    --request POST --upload-file "$1" "$2"
  curl --silent --show-error --fail --location "$2" | sha256sum`;
