import type { ActiveInterception, InterceptedReply } from '../world/server/interceptions.ts';
import type { GitHubWorld } from '../world/world.ts';
import { isTargetRequest, type MatrixCell } from './fault-runner.ts';
import { formatRequestName } from './recorded-http.ts';

/** Replaces the reply to the requests of a cell on the server of the local GitHub. */
export function interceptCell(
  world: GitHubWorld,
  cell: MatrixCell,
  reply: InterceptedReply,
): ActiveInterception {
  const [method = ''] = cell.request.name.split(' ');
  let nth = -1;
  const isTarget = (address: string): boolean => {
    const name = formatRequestName(method, new URL(address));
    if (name === cell.request.name) nth += 1;
    return isTargetRequest(cell, { name, nth });
  };
  return world.intercept({ method, url: isTarget, times: cell.isPermanent ? 1_000 : 1 }, reply);
}
