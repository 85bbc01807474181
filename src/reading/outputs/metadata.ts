import { z } from 'zod';
import type { Output } from '../../capture/snapshot.ts';
import { NODES } from './nodes.ts';
import type { Reading } from './reading.ts';

/** Maximum time in milliseconds, and its share of the time for the output. */
const MAX_MS = 3_000;
const SHARE = 0.5;
const LIMITS = {
  /** Maximum number of characters of all values, and of one text. */
  characters: 1024 * 1024,
  textCharacters: 16 * 1024,
  /** Maximum number of elements of each kind, of properties of microdata, and of levels of nested values. */
  elements: 1_000,
  properties: 10_000,
  levels: 50,
};

const answered = z.object({ json: z.string(), partial: z.boolean() });

/** Reads what the page says about itself to machines; visitors do not see it. */
export async function readMetadata({ ask, ms }: Reading): Promise<Output> {
  const limits = { ...LIMITS, ms: Math.min(MAX_MS, ms * SHARE) };
  const { json, partial } = answered.parse(await ask(`(${METADATA})(${JSON.stringify(limits)})`));
  return { content: `${json}\n`, partial };
}

/** Runs in the page. Returns JSON, so that nothing that the page nests can reach the protocol. */
const METADATA = `(limits) => {
  const endsAt = performance.now() + limits.ms;
  const { nameOf, textOf, baseOf, childrenOf, attribute, rootElementOf } = ${NODES};
  const root = rootElementOf(document);
  const select = (selector) => Document.prototype.querySelectorAll.call(document, selector);
  let [characters, properties, partial] = [limits.characters, limits.properties, false];

  const first = function* (elements) {
    let count = 0;
    for (const element of elements) {
      count += 1;
      if (count > limits.elements || characters <= 0 || performance.now() > endsAt) {
        partial = true;
        return;
      }
      yield element;
    }
  };
  const cut = (text) => {
    const trimmed = text.slice(0, 4 * limits.textCharacters).trim();
    const most = Math.min(limits.textCharacters, Math.max(0, characters));
    if (trimmed.length > most || text.length > 4 * limits.textCharacters) partial = true;
    const kept = trimmed.slice(0, most).toWellFormed();
    characters -= kept.length;
    return kept;
  };
  const url = (element, name) => {
    const value = attribute(element, name);
    if (value === null || value.trim() === '') return null;
    const base = baseOf(element);
    return cut(value.length <= limits.textCharacters && URL.canParse(value, base) ? new URL(value, base).href : value);
  };
  const text = (element, name) => {
    const value = attribute(element, name);
    return value === null ? null : cut(value);
  };

  const canonicalOf = () => {
    for (const link of first(select('link[rel~="canonical" i][href]'))) return url(link, 'href');
    return null;
  };
  const feedsOf = () => {
    const feeds = [];
    for (const link of first(select('link[rel~="alternate" i][type][href]'))) {
      const type = attribute(link, 'type').trim().toLowerCase();
      if (!/^application\\/(?:(?:rss|atom)\\+xml|feed\\+json)(?:;|$)/.test(type)) continue;
      feeds.push({ url: url(link, 'href'), type: cut(type), title: text(link, 'title') ?? '' });
    }
    return feeds;
  };
  /** Properties by name, each with all of its values. */
  const metaOf = (selector, name, pattern) => {
    const all = new Map();
    for (const meta of first(select(selector))) {
      const key = cut(attribute(meta, name).toLowerCase());
      const value = text(meta, 'content');
      if (value === null || !pattern.test(key)) continue;
      all.set(key, [...(all.get(key) ?? []), value]);
    }
    return Object.fromEntries(all);
  };

  const isTooDeep = (value, level = 0) =>
    level > limits.levels || (typeof value === 'object' && value !== null && Object.values(value).some((each) => isTooDeep(each, level + 1)));
  const jsonLdOf = () => {
    const [items, found] = [[], { invalid: 0 }];
    for (const script of first(select('script[type^="application/ld+json" i]'))) {
      const source = textOf(script);
      if (source.length > characters) {
        partial = true;
        continue;
      }
      characters -= source.length;
      try {
        const value = JSON.parse(source);
        if (isTooDeep(value)) partial = true;
        else items.push(value);
      } catch {
        found.invalid += 1;
      }
    }
    return { items, ...found };
  };

  const valueOf = (element) => {
    const name = nameOf(element);
    if (name === 'meta') return text(element, 'content') ?? '';
    if (/^(?:a|area|link)$/.test(name)) return url(element, 'href') ?? '';
    if (/^(?:audio|embed|iframe|img|source|track|video)$/.test(name)) return url(element, 'src') ?? '';
    if (name === 'object') return url(element, 'data') ?? '';
    if (/^(?:data|meter)$/.test(name)) return text(element, 'value') ?? '';
    if (name === 'time' && attribute(element, 'datetime') !== null) return text(element, 'datetime');
    return cut(textOf(element).replace(/\\s+/g, ' '));
  };
  const itemOf = (element, level) => {
    const item = { type: (text(element, 'itemtype') ?? '').split(/\\s+/).filter((type) => type !== ''), properties: {} };
    const id = url(element, 'itemid');
    if (id !== null) item.id = id;
    if (level > limits.levels) {
      partial = true;
      return item;
    }
    const all = new Map();
    const seen = new Set([element]);
    const named = (attribute(element, 'itemref') ?? '').slice(0, limits.textCharacters).split(/\\s+/).filter((each) => each !== '');
    const referred = named.slice(0, limits.elements).map((each) => Document.prototype.getElementById.call(document, each)).filter((each) => each !== null);
    const stack = [...referred.reverse(), ...[...childrenOf(element)].reverse()];
    while (stack.length > 0) {
      const each = stack.pop();
      if (seen.has(each)) continue;
      seen.add(each);
      if (properties <= 0 || characters <= 0 || performance.now() > endsAt) {
        partial = true;
        break;
      }
      const isItem = attribute(each, 'itemscope') !== null;
      const names = attribute(each, 'itemprop');
      if (names !== null) {
        properties -= 1;
        const value = isItem ? itemOf(each, level + 1) : valueOf(each);
        for (const name of cut(names).split(/\\s+/).filter((one) => one !== '')) {
          if (!all.has(name)) all.set(name, []);
          all.get(name).push(value);
        }
      }
      if (!isItem) stack.push(...[...childrenOf(each)].reverse());
    }
    item.properties = Object.fromEntries(all);
    return item;
  };
  const microdataOf = () => {
    const items = [];
    for (const element of first(select('[itemscope]:not([itemprop])'))) items.push(itemOf(element, 0));
    return items;
  };

  const { items: jsonLd, invalid } = jsonLdOf();
  const found = {
    canonical: canonicalOf(),
    language: root === null ? null : text(root, 'lang'),
    feeds: feedsOf(),
    open_graph: metaOf('meta[property]', 'property', /^(?:og|article|book|profile|video|music|product|fb):/),
    names: metaOf('meta[name]', 'name', /^(?:description|author|keywords|robots|generator|application-name|theme-color|twitter:.*)$/),
    json_ld: jsonLd,
    json_ld_invalid: invalid,
    microdata: microdataOf(),
  };
  return { json: JSON.stringify(found, null, 1), partial };
}`;
