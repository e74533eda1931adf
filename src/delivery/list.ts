import type { ListedItem, Listing } from '../channels/channel.ts';
import { countFiles, formatSize, formatTime, lineIf, toHtml } from '../plain-text.ts';
import { listAudited } from './audit.ts';
import type { DeliveryContext } from './delivery-context.ts';
import type { ReportDocument } from './report.ts';

/** Lists deliveries as their records describe them. Writes and verifies nothing. */
export async function list({ openRepository, request }: DeliveryContext): Promise<ReportDocument> {
  const keys = listAudited(request);
  const query = { pagesSettings: keys.includes('K1'), repository: false };
  const { channels } = await openRepository(query);
  const found: Listing[] = [];
  for (const key of keys) found.push((await channels[key].list?.()) ?? { deliveries: [], unlisted: [] });
  const deliveries = found.flatMap((listing) => listing.deliveries);
  const count = `${deliveries.length} ${deliveries.length === 1 ? 'delivery' : 'deliveries'}`;
  const where = request.path === undefined ? '' : ` below ${request.path}`;
  return {
    ...{ result: 'listed', url: '', reason: `${count}${where}; nothing was verified`, hint: '', code: null },
    ...{ reports: [], deliveries, unlisted: found.flatMap((listing) => listing.unlisted) },
  };
}

export const LIST_START = '<!DOCTYPE html>\n<!-- screen-delivery list -->';

const describe = ({ time, files, size, place, changed }: ListedItem): readonly string[] => [
  time === null ? 'time unknown' : formatTime(Date.parse(time)),
  `${countFiles(files)}, ${formatSize(size)}`,
  place,
  ...lineIf(changed, 'changed since'),
];

/** A line for each delivery. */
export const formatList = ({ deliveries = [], unlisted = [], reason }: ReportDocument): string =>
  [
    ...deliveries.map((item) => [item.path, ...describe(item), item.url ?? 'not served'].join('  ')),
    ...unlisted.map((line) => `Not listed: ${line}`),
    `${reason}. To verify them, run audit.`,
  ].join('\n');

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'li{display:flex;gap:1rem;padding:.75rem 0;border-top:1px solid #8886}ul{list-style:none;padding:0}' +
  'img{width:8rem;height:5rem;object-fit:cover;object-position:top}div{min-width:0;overflow-wrap:anywhere}';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'";

/** A page for the same site, with the site's own pictures. All in it comes from others, so it is escaped. */
export function formatListPage(
  { deliveries = [], unlisted = [], reason }: ReportDocument,
  time: number,
): string {
  const link = (url: string | null, text: string): string =>
    url === null ? toHtml(text) : `<a href="${toHtml(url)}">${toHtml(text)}</a>`;
  const rows = deliveries.map((item) => {
    const { path, url, picture, by, run } = item;
    const source = picture === null ? '' : `<img alt="" src="${toHtml(picture)}">`;
    const about = [...describe(item).map(toHtml), ...(by === null ? [] : [link(run, by)])].join(' · ');
    return `<li>${source}<div>${link(url, path)}<br>${about}</div></li>`;
  });
  const notes = unlisted.map((line) => `<p>Not listed: ${toHtml(line)}</p>`);
  return `${LIST_START}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Deliveries</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Deliveries</h1>
<p>${toHtml(reason)}. Listed ${formatTime(time)}.</p>
<ul>
${rows.join('\n')}
</ul>
${notes.join('\n')}
</body>
</html>
`;
}
