/** What `loadConvert` loads. It throws no `DeliveryError`, because a bundle has its own copy of the class. */

export { inlinePage } from './inline/inline-page.ts';
export { isRenderable, renderText } from './render/render-text.ts';
