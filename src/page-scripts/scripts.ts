/**
 * The scripts that run in a page, by name: `NAME` is `run` of `entries/NAME.ts`. Arguments and results are copied, so
 * they are JSON. `src/page/page-scripts.ts` calls them.
 */
export interface PageScripts {
  answer: typeof import('./entries/answer.ts').run;
  'apply-rules': typeof import('./entries/apply-rules.ts').run;
  'await-drawn': typeof import('./entries/await-drawn.ts').run;
  'await-frames': typeof import('./entries/await-frames.ts').run;
  'await-outside': typeof import('./entries/await-outside.ts').run;
  'await-settled': typeof import('./entries/await-settled.ts').run;
  'change-elements': typeof import('./entries/change-elements.ts').run;
  'entered-frames': typeof import('./entries/entered-frames.ts').run;
  'find-elements': typeof import('./entries/find-elements.ts').run;
  'find-visible': typeof import('./entries/find-visible.ts').run;
  'finish-reading': typeof import('./entries/finish-reading.ts').run;
  'frames-of-reading': typeof import('./entries/frames-of-reading.ts').run;
  'freeze-animations': typeof import('./entries/freeze-animations.ts').run;
  'has-root': typeof import('./entries/has-root.ts').run;
  'has-scroller': typeof import('./entries/has-scroller.ts').run;
  'in-parts': typeof import('./entries/in-parts.ts').run;
  'is-shown': typeof import('./entries/is-shown.ts').run;
  'keep-heights': typeof import('./entries/keep-heights.ts').run;
  'keep-looks': typeof import('./entries/keep-looks.ts').run;
  'look-still': typeof import('./entries/look-still.ts').run;
  'next-part': typeof import('./entries/next-part.ts').run;
  'note-heights': typeof import('./entries/note-heights.ts').run;
  'note-popups': typeof import('./entries/note-popups.ts').run;
  'observe-document': typeof import('./entries/observe-document.ts').run;
  'observe-scrolling': typeof import('./entries/observe-scrolling.ts').run;
  origin: typeof import('./entries/origin.ts').run;
  'prepare-archive': typeof import('./entries/prepare-archive.ts').run;
  'prepare-sheet': typeof import('./entries/prepare-sheet.ts').run;
  'read-framed-text': typeof import('./entries/read-framed-text.ts').run;
  'read-host': typeof import('./entries/read-host.ts').run;
  'read-links': typeof import('./entries/read-links.ts').run;
  'read-markdown': typeof import('./entries/read-markdown.ts').run;
  'read-metadata': typeof import('./entries/read-metadata.ts').run;
  'read-text': typeof import('./entries/read-text.ts').run;
  'read-text-length': typeof import('./entries/read-text-length.ts').run;
  'restore-page': typeof import('./entries/restore-page.ts').run;
  'reveal-content': typeof import('./entries/reveal-content.ts').run;
  'reveal-element': typeof import('./entries/reveal-element.ts').run;
  'scroll-by': typeof import('./entries/scroll-by.ts').run;
  'scroll-page': typeof import('./entries/scroll-page.ts').run;
  'scroll-tall-window': typeof import('./entries/scroll-tall-window.ts').run;
  'scroll-to-top': typeof import('./entries/scroll-to-top.ts').run;
  'show-whole': typeof import('./entries/show-whole.ts').run;
  'stayed-still': typeof import('./entries/stayed-still.ts').run;
  unfix: typeof import('./entries/unfix.ts').run;
  'unfold-scroller': typeof import('./entries/unfold-scroller.ts').run;
}
