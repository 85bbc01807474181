/*
 * The scripts that run in a page: each function that these files export, by its name. Arguments and results are copied,
 * so they are JSON. `src/page/asking/page-scripts.ts` calls them.
 */

export { visibleParts } from './boxes/visible-parts.ts';
export { changeElements } from './changes/change.ts';
export { finishMask } from './changes/mask.ts';
export * from './entries/animations.ts';
export * from './entries/answer-by-words.ts';
export * from './entries/banner.ts';
export * from './entries/browser.ts';
export * from './entries/document.ts';
export * from './entries/elements.ts';
export * from './entries/extract.ts';
export * from './entries/find.ts';
export * from './entries/form.ts';
export * from './entries/libraries.ts';
export * from './entries/pdf.ts';
export * from './entries/prepare.ts';
export * from './entries/read.ts';
export * from './entries/read-markdown.ts';
export * from './entries/reveal-content.ts';
export * from './entries/scroll.ts';
export * from './entries/scroll-page.ts';
export * from './entries/selectors.ts';
export * from './entries/settle.ts';
export * from './entries/steady-page.ts';
export * from './entries/style-sheets.ts';
export * from './entries/unfold-scroller.ts';
export * from './entries/values.ts';
export * from './entries/whole-page.ts';
export * from './entries/window-members.ts';
export { finishReading, framesOfReading } from './painted/after-frames.ts';
export { nextPart } from './running/in-parts.ts';
export { restorePage } from './running/undo.ts';
export { keepHeights, noteHeights } from './whole-page/heights.ts';
export { unfix } from './whole-page/unfix.ts';
