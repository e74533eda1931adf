/** What a browser does with a file of the bin. */
export interface ShownContent {
  /** The verb of the report's claim. */
  readonly claim: string;
  readonly notes: readonly string[];
}

/** The host sends these as attachments, whatever the file's name is. */
const ATTACHED = ['text/html', 'application/pdf'];

/** A browser shows these by itself. */
const SHOWN =
  /^(text\/|image\/(png|jpeg|gif|webp|svg\+xml|avif|bmp|x-icon|vnd\.microsoft\.icon)|audio\/|video\/|application\/(json|xml|xhtml\+xml|javascript))/;

/**
 * Whether the file is shown or downloaded, by the content type that the host found in its bytes.
 *
 * @param contentType `undefined` where the host did not name one
 */
export function describeShown(contentType: string | undefined): ShownContent {
  const type = contentType?.trim().toLowerCase();
  if (type === undefined || type === '') return { claim: 'is available', notes: [] };
  if (SHOWN.test(type) && !ATTACHED.some((attached) => type.startsWith(attached))) {
    return { claim: 'opens', notes: [] };
  }
  return {
    claim: 'downloads',
    notes: ['this kind of file is downloaded there, not shown on the screen'],
  };
}
