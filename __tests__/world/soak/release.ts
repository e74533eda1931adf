import type { GitHubWorld } from '../world.ts';
import { deliverAtOnce, describeLoad, type LoadReport } from './load.ts';

/** Many deliveries of one asset each at once into a new release; if it is immutable, later ones take another number. */
export const loadRelease =
  (isImmutable: boolean) =>
  async (world: GitHubWorld, deliverers: number): Promise<LoadReport> => {
    const name = isImmutable ? 'soak-immutable' : 'soak-release';
    const repository = await world.repository({ owner: 'octo', name });
    repository.immutableReleases(isImmutable);
    const files = Array.from({ length: deliverers }, (_, at) => {
      const asset = `build-${String(at + 1).padStart(2, '0')}.zip`;
      return { name: asset, bytes: Buffer.alloc(200_000 + at, `PK ${asset} `), inputs: { channel: 'K2' } };
    });
    const results = await deliverAtOnce(world, repository, files);

    const releases = repository.releases();
    const published = releases.filter(({ draft }) => !draft);
    const assets = releases.flatMap((release) => release.assets);
    const lost = results.filter(({ file, report }) => {
      const [asset, ...more] = assets.filter((one) => one.name === file.name);
      return more.length > 0 || asset?.digest !== `sha256:${report?.file?.sha256}`;
    });
    return describeLoad(world, results, {
      title: `K2: ${deliverers} deliverers at once into a release that is not there yet${isImmutable ? ', immutable releases' : ''}`,
      lost: lost.length,
      rows: [['releases', `${releases.length}, with ${assets.length} assets`]],
      problems: [
        ...lost.map(({ file }) => `${file.name} is not there once, as it was sent`),
        ...(isImmutable || published.length === 1 ? [] : [`there are ${published.length} releases`]),
        ...(releases.length === published.length ? [] : ['a draft is left over']),
        ...(assets.length === deliverers ? [] : [`there are ${assets.length} assets`]),
      ],
    });
  };
