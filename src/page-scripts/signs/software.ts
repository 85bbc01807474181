import { attribute, page, select, srcOf } from '../dom/dom.ts';

const MAX_METAS = 60;
const MAX_SCRIPTS = 100;
const MAX_NAME_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 256;
const MAX_URL_CHARACTERS = 512;

/** Signs in a document of the software that made it. */
export interface Software {
  /** Elements `meta`, by names in lower case. */
  readonly metas: readonly { readonly name: string; readonly value: string }[];
  /** URLs. */
  readonly scripts: readonly string[];
}

export function softwareOf(): Software {
  const metas = select(page, 'meta[name][content]').slice(0, MAX_METAS);
  const scripts = select(page, 'script[src]').slice(0, MAX_SCRIPTS);
  return {
    metas: metas.map((meta) => ({
      name: cut(attribute(meta, 'name') ?? '', MAX_NAME_CHARACTERS).toLowerCase(),
      value: cut(attribute(meta, 'content') ?? '', MAX_VALUE_CHARACTERS),
    })),
    scripts: scripts.map((script) => cut(srcOf(script), MAX_URL_CHARACTERS)),
  };
}

const cut = (text: string, characters: number): string => text.slice(0, characters).toWellFormed();
