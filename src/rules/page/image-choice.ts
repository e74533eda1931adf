import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { type FoundAddress, laterGrade, parseSrcset, type ReferenceGrade } from './addresses.ts';
import { gradeMedia } from './media-queries.ts';
import { getAttribute, getLocalName, hasAttribute } from './page-tree.ts';

/** Image types that all current browsers show; an empty one says nothing. */
const SHOWN_TYPES = /^(?:image\/(?:apng|avif|gif|jpe?g|png|svg\+xml|webp|x-icon|bmp))?$/i;

const found = (address: string, grade: ReferenceGrade): FoundAddress => ({
  offset: 0,
  address,
  kind: 'data',
  grade,
});

/**
 * The candidates of a `srcset`: on an ordinary screen a browser takes the one for one dot per pixel. Of those with
 * widths it takes any: then one of them is enough.
 */
export function readSrcset(value: string, element: Dom.Element): readonly FoundAddress[] {
  const candidates = parseSrcset(value);
  const grade = gradeChoice(element);
  const addresses = candidates.map(({ address }) => address);
  const densities = candidates.map(({ density }) => density ?? Number.NaN);
  if (densities.some(Number.isNaN)) {
    return addresses.map((address) => {
      const others = addresses.filter((other) => other !== address);
      return { ...found(address, grade), ...(others.length > 0 && { others }) };
    });
  }
  // The `src` is the candidate for one dot, where no other one is.
  const usual = densities.includes(1) || hasAttribute(element, 'src') ? 1 : Math.min(...densities);
  return candidates.map(({ address, density }) =>
    found(address, density === usual ? grade : laterGrade(grade, 'conditional')),
  );
}

/** The `src` of an image, which current browsers ignore where a `srcset` has an image for every screen. */
export function readImage(address: string, element: Dom.Element): readonly FoundAddress[] {
  const candidates = parseSrcset(getAttribute(element, 'srcset'));
  const isReplaced = candidates.some(({ density }) => density === null || density === 1);
  return [found(address, isReplaced ? 'later' : gradeChoice(element))];
}

/** What a preload names is loaded anyway where it is used. */
export const readPreloads = (value: string): readonly FoundAddress[] =>
  parseSrcset(value).map(({ address }) => found(address, 'later'));

/** The `src` of a `source`: a browser goes on to the next one where a sound or film is missing. */
export function readMediaSource(address: string, element: Dom.Element): readonly FoundAddress[] {
  const parent = getParent(element);
  // In a picture only `srcset` counts.
  if (parent === null || getLocalName(parent) === 'picture' || hasAttribute(parent, 'src')) {
    return [found(address, 'later')];
  }
  const isLater = getAttribute(parent, 'preload').toLowerCase() === 'none';
  const grade = isLater ? 'later' : gradeMedia(getAttribute(element, 'media'));
  const others = listSources(parent)
    .filter((one) => one !== element && hasAttribute(one, 'src'))
    .map((one) => getAttribute(one, 'src'));
  return [{ ...found(address, grade), ...(others.length > 0 && { others }) }];
}

/** When a browser uses an image of a `picture`, of which it takes the first source that fits. */
function gradeChoice(element: Dom.Element): ReferenceGrade {
  const parent = getParent(element);
  if (parent === null || getLocalName(parent) !== 'picture') return 'start';
  const chosen = listSources(parent).find((source) => gradeSource(source) === 'start');
  const isSource = getLocalName(element) === 'source';
  if (chosen !== undefined) return chosen === element ? 'start' : 'conditional';
  return isSource ? gradeSource(element) : 'start';
}

const gradeSource = (source: Dom.Element): ReferenceGrade =>
  SHOWN_TYPES.test(getAttribute(source, 'type').trim())
    ? gradeMedia(getAttribute(source, 'media'))
    : 'conditional';

const getParent = ({ parentNode }: Dom.Element): Dom.Element | null =>
  parentNode !== null && 'tagName' in parentNode ? parentNode : null;

const listSources = ({ childNodes }: Dom.Element): readonly Dom.Element[] =>
  childNodes.flatMap((node) => ('tagName' in node && getLocalName(node) === 'source' ? [node] : []));
