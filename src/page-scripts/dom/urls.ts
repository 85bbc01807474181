import { baseOf, type PageNode } from './dom.ts';
import { type Url, web } from './web.ts';

/** Returns a URL as it is written at a node, made absolute; null for one that is none. */
export function resolved(written: string, node: PageNode): Url | null {
  return resolvedFrom(written, baseOf(node));
}

export function resolvedFrom(written: string, base: string): Url | null {
  return web.URL.canParse(written, base) ? new web.URL(written, base) : null;
}
