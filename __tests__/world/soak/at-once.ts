import type { Report } from '../../../src/delivery/report.ts';
import type { Repository } from '../repository.ts';
import { runAction } from '../runner.ts';
import type { World } from '../world.ts';
import { type Say, secondsSince } from './tally.ts';

const TIMEOUT_MS = 900_000;

/** One file to deliver. */
export interface Cargo {
  readonly name: string;
  readonly bytes: Buffer;
  readonly inputs: Readonly<Record<string, string>>;
}

/** How one delivery ended. */
export interface Fare {
  readonly cargo: Cargo;
  readonly report: Report | undefined;
  /** The most memory that its process held, where the system tells. */
  readonly maxRssKb: number;
}

/** Delivers everything at once, each file by a process of its own, as so many jobs would. */
export async function deliverAtOnce(
  world: World,
  repository: Repository,
  cargoes: readonly Cargo[],
  say: Say,
): Promise<Fare[]> {
  const begun = performance.now();
  const step = Math.ceil(cargoes.length / 8);
  let done = 0;
  const deliver = async (cargo: Cargo): Promise<Fare> => {
    const { name, bytes, inputs } = cargo;
    const { outputs, maxRssKb = 0 } = await runAction({
      world,
      repository,
      inputs: { file: name, 'poll-interval': '1', ...inputs },
      files: { [name]: bytes },
      timeoutMs: TIMEOUT_MS,
    });
    done += 1;
    if (done % step === 0) say(`${done} of ${cargoes.length} deliveries done, ${secondsSince(begun)}`);
    const [report] = JSON.parse(outputs['report-json'] || '[]') as Report[];
    return { cargo, report, maxRssKb };
  };
  return Promise.all(cargoes.map(deliver));
}

/** Deliveries that did not end in an address, a sentence each. */
export function notReady(fares: readonly Fare[]): string[] {
  return fares
    .filter(({ report }) => report?.ready !== true)
    .map(({ cargo, report }) => `${cargo.name} is not ready: ${report?.lines.RESULT ?? 'no report'}`);
}

/** The most memory that one of the processes held. */
export function peakMemory(fares: readonly Fare[]): string {
  return `${Math.round(Math.max(...fares.map(({ maxRssKb }) => maxRssKb)) / 1024)} MB at the most`;
}
