export { comparePictures } from './pixels.ts';
export { createScreenViewer, type ScreenViewerOptions } from './screen-viewer.ts';
