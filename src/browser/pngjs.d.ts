/** The part of this package that is used here; it comes without types. */
declare module 'pngjs' {
  export interface PngImage {
    width: number;
    height: number;
    data: Buffer;
  }
  export const PNG: {
    sync: {
      read(png: Buffer): PngImage;
      write(image: PngImage, options?: { deflateLevel?: number; filterType?: number }): Buffer;
    };
  };
}
