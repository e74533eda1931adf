import type { RawInputs } from './inputs.ts';
import { type Operation, refuse, type Wishes } from './values.ts';

interface Asked {
  readonly lines: readonly string[];
  readonly channels: Wishes;
  readonly url: URL | undefined;
  readonly raw: RawInputs;
}

/**
 * Refuses what can't be done for want of an input.
 *
 * @throws {DeliveryError} `BAD_INPUT` with the input to set.
 */
export function refuseIncomplete(operation: Operation, asked: Asked): void {
  if (operation === 'withdraw') refuseIncompleteWithdrawal(asked);
  else refuseIncompleteDelivery(asked);
}

function refuseIncompleteDelivery({ lines, channels, url, raw: { marker } }: Asked): void {
  if (lines.length === 0 && url === undefined)
    refuse('there is nothing to deliver', 'set `file:` to the file, or `url:` to a link');
  if (channels !== 'auto' && channels.includes('K4') && url === undefined) {
    refuse(
      'channel K4 needs the link to check',
      'set `url:` to the link that the environment gave, or use channel: K1, K2 or K3',
    );
  }
  if (lines.length > 0) return;
  if (channels !== 'auto' && channels.some((key) => key !== 'K4')) {
    refuse('input `file` is missing', 'set `file:` to the file, or use channel: K4 for a link alone');
  }
  if (marker === '')
    refuse(
      "a link alone can't be proven",
      'set `marker:` to a text that it shows, or `file:` to what it holds',
    );
}

function refuseIncompleteWithdrawal({ lines, channels, raw: { path, bin } }: Asked): void {
  if (lines.length === 0 && path === '')
    refuse('there is nothing to withdraw', 'set `path:` to the file or folder, or `file:` to its name');
  if (channels !== 'auto' && channels.includes('K4')) {
    refuse("the environment's own link (K4) can't be withdrawn", 'use channel: K1, K2 or K3');
  }
  if (
    lines.length === 0 &&
    path.endsWith('/') &&
    (bin !== '' || (channels !== 'auto' && channels.some((key) => key !== 'K1')))
  ) {
    refuse('K2 and K3 know no folders to withdraw', 'set `file:` to the names, or `path:` to one of them');
  }
  if (channels !== 'auto' && channels.includes('K3') && bin === '') {
    refuse('the bin to withdraw from is not named', 'set `bin:` to the name that the delivery reported');
  }
}
