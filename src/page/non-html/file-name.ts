import { bounded } from '../../capture/basics/bounded.ts';

const MAX_NAME_CHARACTERS = 255;

/** Cuts the name of a download, which a server may make as long as its headers. */
export function fileName(suggested: string): string {
  return bounded(suggested, MAX_NAME_CHARACTERS);
}
