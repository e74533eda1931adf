import { basename, join } from 'node:path';
import type { GitHubWorld } from '../__tests__/world/world.ts';
import type { BenchCase } from './cases.ts';
import { measureRun, type RunMeasurement } from './measure.ts';
import { type DeliveryCost, measureDelivery } from './measure-delivery.ts';

export type BenchChannel = 'k1' | 'k2' | 'k3';

/** The tag of an existing release, because creating one costs a second between two writes. */
const TAG = 'bench';

/** A runner's own credentials, for which the file is searched as well. */
const CREDENTIALS = {
  ACTIONS_RUNTIME_TOKEN: 'benchmark-runtime-token-42.'.repeat(40),
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'benchmark-request-token-43.'.repeat(40),
};

/** A delivery by the unmodified bundle, or by the one that PEER_DIST names, as a runner would start it. */
export async function runBundle(
  world: GitHubWorld,
  { channel, cut }: Pick<BenchCase, 'channel' | 'cut'>,
  file: string,
  onStart?: () => void,
): Promise<DeliveryCost> {
  const repository = await world.repository({ owner: 'bench', name: 'site', pages: { buildMs: 0 } });
  repository.addEarlierAssets(TAG, 1);
  world.filebin.cookieCheck = false;
  if (cut) world.intercept({ method: 'POST', url: /uploads\.github\.com/ }, { fault: 'reset-before' });
  const peer = process.env.PEER_DIST;
  const inputs = { file, channel: channel.toUpperCase(), path: `1-${basename(file)}`, tag: TAG };
  const env = { ...CREDENTIALS, ...(peer !== undefined && createPeerInputs(file)) };
  return measureDelivery({
    world,
    repository,
    workspace: join(world.folder, 'workspace'),
    inputs,
    env,
    ...(peer !== undefined && { bundle: peer }),
    ...(onStart && { onStart }),
  });
}

/** The peer's inputs from the environment; `{file}` is replaced by the file. */
function createPeerInputs(file: string): Record<string, string> {
  const inputs = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('INPUT_') ? [[name, value.replaceAll('{file}', file)]] : [],
  );
  // Other clients use the proxy only with this setting.
  return { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(inputs) };
}

/** The same upload and download by curl through the same proxy, with the SHA-256 of the download. */
export const runCurl = ({ env, folder }: GitHubWorld, file: string): Promise<RunMeasurement> =>
  measureRun({
    program: 'sh',
    args: ['-ec', CURL, 'sh', file, 'https://filebin.net/curl-of-the-bench/file'],
    cwd: folder,
    env: { ...env, PATH: process.env.PATH ?? '' },
  });

const CURL = `
  curl --silent --show-error --fail --output /dev/null -H 'Expect:' -H 'Content-Type: application/octet-stream' \\
    --request POST --upload-file "$1" "$2"
  curl --silent --show-error --fail --location "$2" | sha256sum`;
