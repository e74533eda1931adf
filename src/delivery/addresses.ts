import type { Placement } from '../channels/channel.ts';
import { OWN_HOST } from '../channels/host-rules.ts';
import type { Check } from '../proof/check.ts';
import { type ProbeResult, provesAlone } from '../proof/probe-result.ts';
import { AGREEING_PROBES } from '../protocol/limits.ts';
import { isHtml } from '../rules/page/page-file.ts';
import type { PlacedAttempt } from './delivery.ts';

/** The address that is handed over, with `?v=` against caches. */
export function pageAddress({ placement, marker, gone }: PlacedAttempt): Check {
  const { answers = AGREEING_PROBES.usual, bypassCache, home, host = OWN_HOST, parts = [] } = placement;
  // With `?v=` one right answer is enough where the address without it is asked next; and where the page of a link's
  // site is asked again after the other files.
  const isAskedAgain = host.asksPageAgain ? parts.length > 0 : bypassCache && !gone;
  return {
    ...placement,
    path: null,
    host,
    pause: host.pause,
    marker,
    gone,
    answers: isAskedAgain ? 1 : answers,
    mayBeBuilt: placement.hostMayChangeBytes || placement.mayBeServed,
    ...(home && { asBrowser: true }),
  };
}

/** What is asked after the page: the site's other files; then without `?v=` the page, what changed, and the raw. */
export function listFurther(
  { placement, gone }: PlacedAttempt,
  page: Check,
  seen: ProbeResult,
): { readonly files: readonly Check[]; readonly asOpened: readonly Check[] } {
  const { bypassCache, rawUrl, file } = placement;
  const files = listParts(placement, page.endsOn);
  if (!bypassCache || gone) return { files, asOpened: [] };
  const changed = files.filter((one) => one.earlier !== undefined && !one.gone);
  const toOpened = (fresh: Check): Check => ({
    ...fresh,
    bypassCache: false,
    mayBeOld: true,
    fresh,
  });
  const handedOver: Check = {
    ...toOpened(page),
    answers: AGREEING_PROBES.usual,
    mayBeBuilt: page.mayBeBuilt && !provesAlone(seen),
    builtSha256: seen.fingerprint?.sha256,
    // Of a node of the host that is late as a whole, the copy with `?v=` is old as well.
    fresh: { ...page, answers: AGREEING_PROBES.usual },
  };
  const asOpened = [handedOver, ...changed.map((one) => ({ ...toOpened(one), asBrowser: true }))];
  if (rawUrl && file) {
    const raw = { path: 'the raw address', url: rawUrl, file, host: page.host, marker: undefined };
    asOpened.push({ ...raw, answers: 1, isOptional: true });
  }
  return { files, asOpened };
}

/** The other files of a site. A link is asked as it is given: nobody knows what its host makes of `?v=`. */
function listParts(placement: Placement, endsOn: string | undefined): readonly Check[] {
  const { file: entry, parts = [], host = OWN_HOST } = placement;
  const pages = parts.flatMap((one) => (FALLBACK.test(one.path) && one.file ? [one.file] : []));
  const fallbacks = entry ? [...pages, entry] : pages;
  return parts.map((part): Check => {
    const { path, url, file } = part;
    const gone = file === null;
    const isOften = gone || parts.length <= host.mostAskedOften;
    return {
      ...part,
      host,
      endsOn,
      marker: undefined,
      gone,
      bypassCache: host.takesVersion,
      asBrowser: host.asksFilesAs === 'browser',
      answers: isOften ? AGREEING_PROBES.usual : 1,
      ...(host.addsToPages && {
        fallbacks: fallbacks.filter((one) => one !== file),
        home: url,
        ...(isHtml(path) && { display: 'page' }),
      }),
    };
  });
}

/** The pages that hosts show in place of a missing one. */
const FALLBACK = /^(?:404|200|index)\.html$/;
