export { comparePictures } from './picture.ts';
export { createScreenViewer, type ScreenViewerOptions } from './screen-viewer.ts';
