import type { ChannelMap } from '../channels/channel.ts';
import { DeliveryError, hasFailed } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { type Load, publishThroughChannel } from './carry.ts';
import { each, end, open, type Way } from './way.ts';

/** Channel by channel, the ways that take it: as their main one, for a duplicate, or either. */
export function* byChannel(
  ways: readonly Way[],
  as: 'main' | 'duplicates' | 'any',
): Generator<readonly [ChannelKey, readonly Way[]]> {
  const taking = ({ choice }: Way): readonly ChannelKey[] => {
    if (choice === null) return [];
    const { main, duplicates } = choice;
    if (as === 'any') return [main, ...duplicates];
    return as === 'main' ? [main] : duplicates;
  };
  for (const key of new Set(ways.flatMap(taking))) {
    yield [key, ways.filter((way) => taking(way).includes(key))];
  }
}

/** What a channel has prepared for each of the ways. */
const intentsOf = (ways: readonly Way[], key: ChannelKey) =>
  ways.flatMap((way) => {
    const intent = way.intents.get(key);
    return intent === undefined ? [] : [{ way, intent }];
  });

/** A dry run ends with what would be done, or with what would fail. */
export async function previewUploads(
  ways: readonly Way[],
  channels: ChannelMap,
  { logger }: Ports,
): Promise<void> {
  await logger.group('Foresee', async () => {
    for (const [key, some] of byChannel(open(ways), 'any')) {
      const prepared = intentsOf(some, key);
      const seen = await channels[key].preview(prepared.map(({ intent }) => intent));
      for (const [at, { way }] of prepared.entries()) {
        const one = seen[at];
        if (hasFailed(one)) end(way, 'place', one);
        else logger.info(`${way.findings.subject}: ${key}: ${one}`);
      }
    }
  });
  await each(ways, 'place', async () => {
    throw new DeliveryError('DRY_RUN', 'this is a dry run: nothing was written', {
      hint: 'leave `dry-run` out to do it',
    });
  });
}

/** The main channels first, then the duplicates, whatever became of the main ones. */
export async function publishAll(
  ways: readonly Way[],
  request: DeliveryRequest,
  channels: ChannelMap,
  ports: Ports,
): Promise<void> {
  const gone = request.operation === 'withdraw';
  const carried = open(ways);
  for (const as of ['main', 'duplicates'] as const) {
    for (const [key, some] of byChannel(carried, as)) {
      const prepared = intentsOf(some, key);
      const loads = prepared.map(({ way: { findings }, intent }): Load => {
        const file = gone ? null : findings.file;
        return { title: findings.subject, intent, expected: { file, marker: request.marker, gone } };
      });
      const outcomes = await publishThroughChannel(channels[key], loads, request, ports);
      for (const [at, { way }] of prepared.entries()) {
        const outcome = outcomes[at];
        if (outcome === undefined) continue;
        const { duplicates } = way.findings;
        const found = as === 'main' ? { main: outcome } : { duplicates: [...duplicates, outcome] };
        way.findings = { ...way.findings, ...found };
      }
    }
  }
}
