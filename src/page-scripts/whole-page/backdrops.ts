import type { PageElement } from '../dom/dom.ts';
import { kept } from '../running/kept.ts';

/** Fixed elements that lie behind the page, or are clipped by it: they belong to each part that it is scrolled to. */
export const backdrops = () => kept('backdrops', () => new Set<PageElement>());
