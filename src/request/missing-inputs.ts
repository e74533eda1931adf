import type { RawInputs } from './inputs.ts';
import { type ChannelSelection, type Operation, refuseInput } from './values.ts';

interface GivenInputs {
  readonly lines: readonly string[];
  readonly channels: ChannelSelection;
  readonly url: URL | undefined;
  readonly raw: RawInputs;
}

/**
 * Refuses what can't be done for want of an input.
 *
 * @throws {DeliveryError} `BAD_INPUT` with the input to set.
 */
export function refuseMissingInputs(operation: Operation, asked: GivenInputs): void {
  if (operation === 'withdraw') refuseMissingForWithdrawal(asked);
  else refuseMissingForDelivery(asked);
}

function refuseMissingForDelivery({ lines, channels, url, raw: { marker } }: GivenInputs): void {
  if (lines.length === 0 && url === undefined) {
    refuseInput('there is nothing to deliver', 'set `file:` to the file, or `url:` to a link');
  }
  if (channels !== 'auto' && channels.includes('K4') && url === undefined) {
    refuseInput(
      'channel K4 needs the link to check',
      'set `url:` to the link that the environment gave, or use channel: K1, K2 or K3',
    );
  }
  if (lines.length > 0) return;
  if (channels !== 'auto' && channels.some((key) => key !== 'K4')) {
    refuseInput('input `file` is missing', 'set `file:` to the file, or use channel: K4 for a link alone');
  }
  if (marker === '') {
    refuseInput(
      "a link alone can't be proven",
      'set `marker:` to a text that it shows, or `file:` to what it holds',
    );
  }
}

function refuseMissingForWithdrawal({ lines, channels, raw: { path, bin } }: GivenInputs): void {
  if (lines.length === 0 && path === '') {
    refuseInput('there is nothing to withdraw', 'set `path:` to the file or folder, or `file:` to its name');
  }
  if (channels !== 'auto' && channels.includes('K4')) {
    refuseInput("the environment's own link (K4) can't be withdrawn", 'use channel: K1, K2 or K3');
  }
  if (
    lines.length === 0 &&
    path.endsWith('/') &&
    (bin !== '' || (channels !== 'auto' && channels.some((key) => key !== 'K1')))
  ) {
    refuseInput(
      'K2 and K3 know no folders to withdraw',
      'set `file:` to the names, or `path:` to one of them',
    );
  }
  if (channels !== 'auto' && channels.includes('K3') && bin === '') {
    refuseInput('the bin to withdraw from is not named', 'set `bin:` to the name that the delivery reported');
  }
}
