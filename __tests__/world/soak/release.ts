import type { World } from '../world.ts';
import { type Cargo, deliverAtOnce, notReady, peakMemory } from './at-once.ts';
import { apiCalls, refusals } from './calls.ts';
import { type Say, secondsSince, type Tally } from './tally.ts';

/** Many deliverers at once bring an asset each into the day's release, which none of them finds. */
export async function loadRelease(world: World, deliverers: number, say: Say): Promise<Tally> {
  const repository = await world.repository({ owner: 'octo', name: 'soak-release' });
  world.wire.clear();
  const begun = performance.now();
  const fares = await deliverAtOnce(
    world,
    repository,
    Array.from({ length: deliverers }, (_, at) => cargo(at)),
    say,
  );
  const time = secondsSince(begun);

  const releases = repository.releases();
  const assets = releases.flatMap((release) => release.assets);
  const lost = fares.filter(({ cargo: { name }, report }) => {
    const [asset, ...more] = assets.filter((one) => one.name === name);
    return more.length > 0 || asset?.digest !== `sha256:${report?.file?.sha256}`;
  });
  return {
    title: `K2: ${deliverers} deliverers at once into a release that is not there yet`,
    rows: [
      ['files landed', `${deliverers - lost.length}, lost ${lost.length}`],
      ['releases', `${releases.length}, with ${assets.length} assets`],
      ['conflicts', `${refusals(world)} refused`],
      ['API calls', apiCalls(world, deliverers)],
      ['memory', `${peakMemory(fares)}, of one process`],
      ['time', time],
    ],
    faults: [
      ...lost.map(({ cargo: { name } }) => `${name} is not there once, as it was sent`),
      ...(releases.length === 1 ? [] : [`there are ${releases.length} releases`]),
      ...(assets.length === deliverers ? [] : [`there are ${assets.length} assets`]),
      ...notReady(fares),
    ],
  };
}

function cargo(at: number): Cargo {
  const name = `build-${String(at + 1).padStart(2, '0')}.zip`;
  const bytes = Buffer.alloc(200_000 + at, `PK ${name} `);
  return { name, bytes, inputs: { channel: 'K2' } };
}
