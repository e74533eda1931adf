import type { ScreenViewer } from './screen-view.ts';

/** Not built yet. */
export const createScreenViewer = async (_: unknown): Promise<ScreenViewer> => {
  throw new Error('there is no browser yet');
};

export const comparePictures = (_one: Uint8Array, _other: Uint8Array): number | null => null;
