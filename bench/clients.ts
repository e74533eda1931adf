import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OWNER, REPOSITORY, STANDING_TAG } from './hosts/route.ts';
import { type Measured, measure } from './measure.ts';
import type { Place } from './place.ts';

export type Channel = 'k1' | 'k2' | 'k3';

const OWN_BUNDLE = fileURLToPath(new URL('../dist/index.js', import.meta.url));

let runs = 0;

/** A delivery by the unmodified bundle, or by the one that PEER_DIST names, as a runner would start it. */
export async function runAction(place: Place, channel: Channel, file: string): Promise<Measured> {
  runs += 1;
  const folder = await mkdtemp(join(place.folder, 'temp', 'run-'));
  const commandFiles = {
    GITHUB_OUTPUT: join(folder, 'output'),
    GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    GITHUB_STATE: join(folder, 'state'),
    GITHUB_ENV: join(folder, 'env'),
  };
  for (const path of Object.values(commandFiles)) await writeFile(path, '');
  const peer = process.env.PEER_DIST;
  const measured = await measure({
    program: process.execPath,
    args: [peer ?? OWN_BUNDLE],
    cwd: join(place.folder, 'workspace'),
    env: {
      ...place.env,
      ...commandFiles,
      HOME: folder,
      RUNNER_TEMP: folder,
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: join(place.folder, 'workspace'),
      GITHUB_REPOSITORY: `${OWNER}/${REPOSITORY}`,
      GITHUB_API_URL: 'https://api.github.com',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REF: 'refs/tags/bench',
      // A runner's own credentials, for which the file is searched as well.
      ACTIONS_RUNTIME_TOKEN: 'benchmark-runtime-token.'.repeat(40),
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'benchmark-request-token.'.repeat(40),
      ...(peer === undefined ? ownInputs(channel, file) : peerInputs(file)),
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

function ownInputs(channel: Channel, file: string): Record<string, string> {
  return {
    INPUT_FILE: file,
    INPUT_CHANNEL: channel.toUpperCase(),
    INPUT_TOKEN: 'benchmark-token',
    INPUT_PATH: `${runs}-${basename(file)}`,
    INPUT_TAG: STANDING_TAG,
    'INPUT_POLL-INTERVAL': '0.1',
  };
}

/** The peer's own inputs, as they stand in the environment; `{file}` stands for the file, `{run}` for a number. */
function peerInputs(file: string): Record<string, string> {
  const inputs = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('INPUT_')
      ? [[name, value.replaceAll('{file}', file).replaceAll('{run}', String(runs))]]
      : [],
  );
  // Others' clients take the proxy only where Node itself does.
  return { NODE_USE_ENV_PROXY: '1', INPUT_TOKEN: 'benchmark-token', ...Object.fromEntries(inputs) };
}

/** The same upload and download by curl, through the same proxy, with the SHA-256 of what came back. */
export async function runCurl(place: Place, file: string): Promise<Measured> {
  runs += 1;
  return measure({
    program: 'sh',
    args: ['-ec', CURL, 'sh', file, `https://filebin.net/curl-${runs}/file`],
    cwd: place.folder,
    env: { PATH: place.env.PATH ?? '', https_proxy: place.proxy, CURL_CA_BUNDLE: place.certFile },
  });
}

const CURL = `
  curl --silent --show-error --fail --output /dev/null -H 'Expect:' -H 'Content-Type: application/octet-stream' \\
    --request POST --upload-file "$1" "$2"
  curl --silent --show-error --fail --location "$2" | sha256sum`;
