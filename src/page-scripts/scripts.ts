/**
 * The scripts that run in a page, by name: `NAME` is `run` of `entries/NAME.ts`. Arguments and results are copied, so
 * they are JSON. `src/page/page-scripts.ts` calls them.
 */
export interface PageScripts {
  'accept-by-words': typeof import('./entries/accept-by-words.ts').run;
  'await-drawn': typeof import('./entries/await-drawn.ts').run;
  'await-frames': typeof import('./entries/await-frames.ts').run;
  'await-outside': typeof import('./entries/await-outside.ts').run;
  'check-selectors': typeof import('./entries/check-selectors.ts').run;
  'find-boxes': typeof import('./entries/find-boxes.ts').run;
  'find-elements': typeof import('./entries/find-elements.ts').run;
  'find-frames': typeof import('./entries/find-frames.ts').run;
  'find-text': typeof import('./entries/find-text.ts').run;
  'has-match': typeof import('./entries/has-match.ts').run;
  'has-visible-match': typeof import('./entries/has-visible-match.ts').run;
  holds: typeof import('./entries/holds.ts').run;
  'icon-url': typeof import('./entries/icon-url.ts').run;
  'is-prepared': typeof import('./entries/is-prepared.ts').run;
  'is-shown': typeof import('./entries/is-shown.ts').run;
  'keep-sheet': typeof import('./entries/keep-sheet.ts').run;
  'kind-of-field': typeof import('./entries/kind-of-field.ts').run;
  'leave-document': typeof import('./entries/leave-document.ts').run;
  'mark-prepared': typeof import('./entries/mark-prepared.ts').run;
  'remove-client-hints': typeof import('./entries/remove-client-hints.ts').run;
  'scroll-element': typeof import('./entries/scroll-element.ts').run;
  'submit-form': typeof import('./entries/submit-form.ts').run;
  'take-strings': typeof import('./entries/take-strings.ts').run;
  'window-size': typeof import('./entries/window-size.ts').run;
}
