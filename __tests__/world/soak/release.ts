import type { GitHubWorld } from '../world.ts';
import { countRefusals, formatApiCalls } from './api-calls.ts';
import { deliverAtOnce, formatPeakMemory, type LoadFile, listNotReady } from './concurrent-deliveries.ts';
import { formatSecondsSince, type LoadReport, type LogProgress } from './load-report.ts';

/** Many concurrent deliveries of one asset each into a release that does not exist yet. */
export const loadRelease = (world: GitHubWorld, deliverers: number, say: LogProgress): Promise<LoadReport> =>
  loadNewRelease(world, { deliverers, isImmutable: false }, say);

/** The same where a release can't be changed once it is published: whoever comes later takes another number. */
export const loadImmutableReleases = (
  world: GitHubWorld,
  deliverers: number,
  say: LogProgress,
): Promise<LoadReport> => loadNewRelease(world, { deliverers, isImmutable: true }, say);

async function loadNewRelease(
  world: GitHubWorld,
  { deliverers, isImmutable }: { readonly deliverers: number; readonly isImmutable: boolean },
  say: LogProgress,
): Promise<LoadReport> {
  const name = isImmutable ? 'soak-immutable' : 'soak-release';
  const repository = await world.repository({ owner: 'octo', name });
  repository.immutableReleases(isImmutable);
  world.traffic.clear();
  const startedAt = performance.now();
  const results = await deliverAtOnce(
    world,
    repository,
    Array.from({ length: deliverers }, (_, at) => createLoadAsset(at)),
    say,
  );
  const time = formatSecondsSince(startedAt);

  const releases = repository.releases();
  const published = releases.filter(({ draft }) => !draft);
  const assets = releases.flatMap((release) => release.assets);
  const lost = results.filter(({ file: { name }, report }) => {
    const [asset, ...more] = assets.filter((one) => one.name === name);
    return more.length > 0 || asset?.digest !== `sha256:${report?.file?.sha256}`;
  });
  return {
    title: `K2: ${deliverers} deliverers at once into a release that is not there yet${isImmutable ? ', immutable releases' : ''}`,
    rows: [
      ['files landed', `${deliverers - lost.length}, lost ${lost.length}`],
      ['releases', `${releases.length}, with ${assets.length} assets`],
      ['conflicts', `${countRefusals(world)} refused`],
      ['API calls', formatApiCalls(world, deliverers)],
      ['memory', `${formatPeakMemory(results)}, of one process`],
      ['time', time],
    ],
    problems: [
      ...lost.map(({ file: { name } }) => `${name} is not there once, as it was sent`),
      ...(isImmutable || published.length === 1 ? [] : [`there are ${published.length} releases`]),
      ...(releases.length === published.length ? [] : ['a draft is left over']),
      ...(assets.length === deliverers ? [] : [`there are ${assets.length} assets`]),
      ...listNotReady(results),
    ],
  };
}

function createLoadAsset(at: number): LoadFile {
  const name = `build-${String(at + 1).padStart(2, '0')}.zip`;
  const bytes = Buffer.alloc(200_000 + at, `PK ${name} `);
  return { name, bytes, inputs: { channel: 'K2' } };
}
