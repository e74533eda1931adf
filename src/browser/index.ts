export { type BrowserSearch, findBrowser } from './find-browser.ts';
export { comparePictures } from './picture.ts';
export { createScreenViewer, type ScreenViewerOptions } from './screen-viewer.ts';
