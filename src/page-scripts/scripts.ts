/**
 * The scripts that run in a page, by name: `NAME` is `run` of `entries/NAME.ts`. Arguments and results are copied, so
 * they are JSON. `src/page/page-scripts.ts` calls them.
 */
export interface PageScripts {
  'await-drawn': typeof import('./entries/await-drawn.ts').run;
  'await-frames': typeof import('./entries/await-frames.ts').run;
  'await-outside': typeof import('./entries/await-outside.ts').run;
  'await-settled': typeof import('./entries/await-settled.ts').run;
  'find-elements': typeof import('./entries/find-elements.ts').run;
  'in-parts': typeof import('./entries/in-parts.ts').run;
  'is-shown': typeof import('./entries/is-shown.ts').run;
  'look-still': typeof import('./entries/look-still.ts').run;
  'next-part': typeof import('./entries/next-part.ts').run;
  'observe-document': typeof import('./entries/observe-document.ts').run;
  'stayed-still': typeof import('./entries/stayed-still.ts').run;
}
