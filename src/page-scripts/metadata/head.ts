import { attribute, page, select, textOf } from '../dom/dom.ts';
import type { Collector } from './collector.ts';

/** Characters of JSON around the values of a feed, and around those of a name. */
const OF_FEED = 40;
const OF_NAME = 5;

export interface Feed {
  readonly url: string | null;
  readonly type: string;
  readonly title: string;
}

export function canonicalOf(collector: Collector): string | null {
  for (const link of collector.first(select(page, 'link[rel~="canonical" i][href]')))
    return collector.url(link, 'href');
  return null;
}

export function feedsOf(collector: Collector): Feed[] {
  const feeds: Feed[] = [];
  for (const link of collector.first(select(page, 'link[rel~="alternate" i][type][href]'))) {
    const type = (attribute(link, 'type') ?? '').trim().toLowerCase();
    if (!/^application\/(?:(?:rss|atom)\+xml|feed\+json)(?:;|$)/.test(type)) continue;
    if (!collector.takes(OF_FEED)) break;
    const url = collector.url(link, 'href');
    feeds.push({ url, type: collector.cut(type), title: collector.text(link, 'title') ?? '' });
  }
  return feeds;
}

/**
 * Returns the properties of `<meta>` elements by name, each with all of its values. `attributeName`: that of the names.
 */
export function metaOf(collector: Collector, attributeName: string, pattern: RegExp): Record<string, string[]> {
  const all = new Map<string, string[]>();
  for (const meta of collector.first(select(page, `meta[${attributeName}]`))) {
    const key = collector.cut((attribute(meta, attributeName) ?? '').toLowerCase());
    const value = collector.text(meta, 'content');
    if (value === null || !pattern.test(key)) continue;
    const values = all.get(key);
    if (values === undefined && !collector.takes(OF_NAME)) break;
    all.set(key, [...(values ?? []), value]);
  }
  return Object.fromEntries(all);
}

/** Returns the values of JSON-LD, and the number of scripts that are not JSON. */
export function jsonLdOf(collector: Collector): { readonly items: unknown[]; readonly invalid: number } {
  const items: unknown[] = [];
  let invalid = 0;
  for (const script of collector.first(select(page, 'script[type^="application/ld+json" i]'))) {
    const source = textOf(script);
    if (!collector.takes(source.length)) continue;
    try {
      const value: unknown = JSON.parse(source);
      if (isDeeper(value, collector.limits.levels)) collector.cutHere();
      // Numbers may be longer than they were written, as 1e20 is.
      else if (collector.takes(JSON.stringify(value).length + 1 - source.length)) items.push(value);
    } catch {
      invalid += 1;
    }
  }
  return { items, invalid };
}

/** Whether a value is nested in more levels than these. */
function isDeeper(value: unknown, levels: number): boolean {
  if (levels < 0) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => isDeeper(each, levels - 1));
}
