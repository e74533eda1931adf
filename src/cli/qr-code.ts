import type { ReportDocument } from '../delivery/report-document.ts';

/** The proven address as a QR code for a terminal; empty unless there is exactly one. */
export async function formatQrCode({ url }: Pick<ReportDocument, 'url'>): Promise<string> {
  if (url === '' || url.includes('\n')) return '';
  const { renderUnicodeCompact } = await import(/* webpackMode: "eager" */ 'uqr');
  // A phone needs the white border around it.
  return renderUnicodeCompact(url, { border: 2 });
}
