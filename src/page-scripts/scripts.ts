/**
 * The scripts that run in a page, by name: `NAME` is `run` of `entries/NAME.ts`. Arguments and results are copied, so
 * they are JSON. `src/page/page-scripts.ts` calls them.
 */
export interface PageScripts {
  'await-drawn': typeof import('./entries/await-drawn.ts').run;
  'await-frames': typeof import('./entries/await-frames.ts').run;
  'await-outside': typeof import('./entries/await-outside.ts').run;
  'check-selectors': typeof import('./entries/check-selectors.ts').run;
  'find-elements': typeof import('./entries/find-elements.ts').run;
  'find-frames': typeof import('./entries/find-frames.ts').run;
  'has-match': typeof import('./entries/has-match.ts').run;
  'has-visible-match': typeof import('./entries/has-visible-match.ts').run;
  'is-prepared': typeof import('./entries/is-prepared.ts').run;
  'is-shown': typeof import('./entries/is-shown.ts').run;
  'mark-prepared': typeof import('./entries/mark-prepared.ts').run;
  'window-size': typeof import('./entries/window-size.ts').run;
}
