/**
 * The scripts that run in a page, by name: `NAME` is `run` of `entries/NAME.ts`. Arguments and results are copied, so
 * they are JSON. `src/page/page-scripts.ts` calls them.
 */
export interface PageScripts {
  'await-drawn': typeof import('./entries/await-drawn.ts').run;
  'await-frames': typeof import('./entries/await-frames.ts').run;
  'await-outside': typeof import('./entries/await-outside.ts').run;
  'find-elements': typeof import('./entries/find-elements.ts').run;
  'is-shown': typeof import('./entries/is-shown.ts').run;
}
