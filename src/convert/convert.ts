/** What `loadConvert` loads. */

export { inlinePage } from './inline/inline-page.ts';
export { isRenderable, renderText } from './render/render-text.ts';
