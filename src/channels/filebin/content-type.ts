/** What a browser does with a file of the bin. */
export interface ShownContent {
  /** The verb of the report's claim. */
  readonly claim: string;
  readonly notes: readonly string[];
}

/** The host sends these as attachments, whatever the file's name is. */
const ATTACHED = /^(text\/html|application\/pdf)\b/;

/** A browser shows these by itself. */
const SHOWN =
  /^(text\/|image\/(png|jpeg|gif|webp|svg\+xml|avif|bmp|x-icon|vnd\.microsoft\.icon)\b|audio\/(mpeg|wav|ogg|flac|aac|mp4|x-m4a|webm)\b|video\/(mp4|webm|ogg)\b|application\/(json|xml|javascript|ogg)\b|application\/[\w.-]+\+(xml|json)\b)/;

/**
 * Text that a browser downloads all the same.
 *
 * @see https://chromium.googlesource.com/chromium/src/+/main/third_party/blink/common/mime_util/mime_util.cc
 */
const SAVED_TEXT =
  /^text\/(calendar|x-calendar|x-vcalendar|vcalendar|vcard|x-vcard|x-vcf|directory|ldif|qif|x-qif|rtf|csv|x-csv|comma-separated-values|tab-separated-values|tsv|ofx|vnd\.|x-ms-)/;

/**
 * Whether the file is shown or downloaded, by the content type that the host found in its bytes.
 *
 * @param contentType `undefined` where the host did not name one
 */
export function describeShown(contentType: string | undefined): ShownContent {
  const type = contentType?.trim().toLowerCase();
  if (type === undefined || type === '') return { claim: 'is available', notes: [] };
  if (SHOWN.test(type) && !ATTACHED.test(type) && !SAVED_TEXT.test(type)) {
    return { claim: 'opens', notes: [] };
  }
  return {
    claim: 'downloads',
    notes: ['this kind of file is downloaded there, not shown on the screen'],
  };
}
