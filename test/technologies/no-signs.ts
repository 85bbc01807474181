import type { SoftwareSigns } from '../../src/capture/result/host-facts.ts';

/** The signs of a page that has none. */
export const NO_SIGNS: SoftwareSigns = {
  url: 'https://page.example/',
  headers: [],
  cookies: [],
  metas: [],
  scripts: [],
  libraries: [],
  title: '',
  favicon: null,
};
