/**
 * The scripts that run in a page, by name: `NAME` is `run` of `entries/NAME.ts`. Arguments and results are copied, so
 * they are JSON. `src/page/page-scripts.ts` calls them.
 */
export interface PageScripts {
  'apply-rules': typeof import('./entries/apply-rules.ts').run;
  'await-drawn': typeof import('./entries/await-drawn.ts').run;
  'await-frames': typeof import('./entries/await-frames.ts').run;
  'await-outside': typeof import('./entries/await-outside.ts').run;
  'entered-frames': typeof import('./entries/entered-frames.ts').run;
  'find-elements': typeof import('./entries/find-elements.ts').run;
  'finish-reading': typeof import('./entries/finish-reading.ts').run;
  'frames-of-reading': typeof import('./entries/frames-of-reading.ts').run;
  'is-shown': typeof import('./entries/is-shown.ts').run;
  'prepare-archive': typeof import('./entries/prepare-archive.ts').run;
  'read-framed-text': typeof import('./entries/read-framed-text.ts').run;
  'read-host': typeof import('./entries/read-host.ts').run;
  'read-links': typeof import('./entries/read-links.ts').run;
  'read-markdown': typeof import('./entries/read-markdown.ts').run;
  'read-metadata': typeof import('./entries/read-metadata.ts').run;
  'read-text': typeof import('./entries/read-text.ts').run;
  'read-text-length': typeof import('./entries/read-text-length.ts').run;
  'restore-page': typeof import('./entries/restore-page.ts').run;
}
