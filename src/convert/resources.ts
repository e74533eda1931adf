import { hash } from 'node:crypto';

/** A file that a page needs, as it was fetched or read from the page's folder. */
export interface Resource {
  /** The URL after redirects. References in the file are relative to it. */
  readonly url: string;
  readonly bytes: Buffer;
  /** The header, or the type by name for a local file. */
  readonly contentType: string;
}

export interface InlinedFile {
  readonly url: string;
  readonly sha256: string;
  readonly size: number;
}

export const sha256 = (bytes: Buffer): string => hash('sha256', bytes);

export const describeFile = ({ url, bytes }: Resource): InlinedFile => ({
  url,
  sha256: sha256(bytes),
  size: bytes.length,
});

/**
 * Reads a resource. It rejects with the reason, and the converter lets that pass. The caller limits files, bytes and
 * time, and decides which addresses and which folder may be read.
 */
export type ReadResource = (url: URL) => Promise<Resource>;

export interface ConvertOptions {
  /** Of the file at hand. Links and files are relative to it. */
  readonly url: URL;
  readonly read: ReadResource;
  readonly signal: AbortSignal;
}

export interface ConvertedPage {
  readonly page: Buffer;
  readonly files: readonly InlinedFile[];
  readonly notes: readonly string[];
  /** What is missing on a rendered page, such as a picture that can't be read. */
  readonly missing?: readonly string[];
  /** The text that a rendered page shows. */
  readonly shown?: string;
}
