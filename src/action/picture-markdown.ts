import type { Report } from '../delivery/report.ts';
import { formatShare } from '../delivery/screen/describe-view.ts';
import { escapeMarkdown, formatAddressLink, formatTable, formatTableRow, joinBlocks } from './markdown.ts';
import { getReportState } from './report-markdown.ts';

/** Characters of a picture's alternative text. */
const MAX_ALTERNATIVE = 200;

/**
 * The picture of the page with its alternative text, as a link to the page; with an earlier one before and after
 * beside each other. Empty unless all of it is proven.
 */
export function formatPicture(report: Report): string {
  const { picture, url } = report;
  if (picture === null || url === null || picture.url === null || getReportState(report) !== 'ready')
    return '';
  const alternative = picture.alternative.slice(0, MAX_ALTERNATIVE).toWellFormed();
  // GitHub keeps copies of pictures: the same address with other bytes would show the old one.
  const version = picture.sha256.slice(0, 16);
  const now = formatImage(alternative, picture.url, version, url);
  if (picture.changed === null) return now;
  if (picture.beforeUrl === null) return joinBlocks([now, 'The page looks the same as before.']);
  const before = formatImage(`${alternative}, before`, picture.beforeUrl, version);
  return joinBlocks([
    formatTable(['Before', 'After'], [formatTableRow([before, now])]),
    `**Changed:** ${formatShare(picture.changed)} of the picture`,
  ]);
}

/** An image in Markdown. @param link where a click on it leads */
function formatImage(alternative: string, address: string, version: string, link?: string): string {
  const url = new URL(address);
  url.searchParams.set('v', version);
  const image = `![${escapeMarkdown(alternative)}](${formatAddressLink(url.href)})`;
  return link === undefined ? image : `[${image}](${formatAddressLink(link)})`;
}
