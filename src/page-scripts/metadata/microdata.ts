import { attribute, childrenOf, elementById, nameOf, type PageElement, page, select, textOf } from '../dom/dom.ts';
import type { Collector } from './collector.ts';

/** Characters of JSON around an item, a type and the values of a property. */
const OF_ITEM = 50;
const OF_TYPE = 3;
const OF_PROPERTY = 6;

export interface Item {
  readonly type: readonly string[];
  properties: Record<string, (string | Item)[]>;
  id?: string;
}

/** Returns the items of microdata that are in no other item. */
export function microdataOf(collector: Collector): Item[] {
  const reader = new MicrodataReader(collector);
  const elements = [...collector.first(select(page, '[itemscope]:not([itemprop])'))];
  return elements.map((element) => reader.itemOf(element, 0)).filter((item) => item !== null);
}

class MicrodataReader {
  readonly #collector: Collector;
  #properties: number;

  constructor(collector: Collector) {
    this.#collector = collector;
    this.#properties = collector.limits.properties;
  }

  /** Null when there is no room for it. */
  itemOf(element: PageElement, level: number): Item | null {
    if (!this.#collector.takes(OF_ITEM)) return null;
    const types = wordsOf(this.#collector.text(element, 'itemtype') ?? '');
    const type = types.filter(() => this.#collector.takes(OF_TYPE));
    const item: Item = { type, properties: {} };
    const id = this.#collector.url(element, 'itemid');
    if (id !== null) item.id = id;
    if (level > this.#collector.limits.levels) this.#collector.cutHere();
    else item.properties = this.#propertiesOf(element, level);
    return item;
  }

  /** Not recursive but for items in items: a page can nest its elements to any depth. */
  #propertiesOf(item: PageElement, level: number): Item['properties'] {
    const all = new Map<string, (string | Item)[]>();
    const seen = new Set([item]);
    const stack = [...this.#referredBy(item).toReversed(), ...childrenOf(item).toReversed()];
    for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
      if (seen.has(each)) continue;
      seen.add(each);
      if (this.#properties <= 0 || this.#collector.isOver) {
        this.#collector.cutHere();
        break;
      }
      const isItem = attribute(each, 'itemscope') !== null;
      const names = attribute(each, 'itemprop');
      if (names !== null) {
        this.#properties -= 1;
        const { room } = this.#collector;
        const value = isItem ? this.itemOf(each, level + 1) : this.#valueOf(each);
        const size = room - this.#collector.room;
        if (value !== null) this.#note(all, wordsOf(this.#collector.cut(names)), value, size);
      }
      if (!isItem) stack.push(...childrenOf(each).toReversed());
    }
    return Object.fromEntries(all);
  }

  /** Adds a value to each of its names: it is written for each of them, and its `size` was taken once. */
  #note(all: Map<string, (string | Item)[]>, names: readonly string[], value: string | Item, size: number): void {
    for (const [at, name] of names.entries()) {
      if (!this.#collector.takes(OF_PROPERTY + (at === 0 ? 0 : size))) return;
      const values = all.get(name) ?? [];
      values.push(value);
      all.set(name, values);
    }
  }

  /** The elements elsewhere that the item says it consists of, too. */
  #referredBy(item: PageElement): PageElement[] {
    const { textCharacters, elements } = this.#collector.limits;
    const ids = wordsOf((attribute(item, 'itemref') ?? '').slice(0, textCharacters)).slice(0, elements);
    return ids.map((id) => elementById(page, id)).filter((each) => each !== null);
  }

  #valueOf(element: PageElement): string {
    const name = nameOf(element);
    const collector = this.#collector;
    if (name === 'meta') return collector.text(element, 'content') ?? '';
    if (/^(?:a|area|link)$/.test(name)) return collector.url(element, 'href') ?? '';
    if (/^(?:audio|embed|iframe|img|source|track|video)$/.test(name)) return collector.url(element, 'src') ?? '';
    if (name === 'object') return collector.url(element, 'data') ?? '';
    if (/^(?:data|meter)$/.test(name)) return collector.text(element, 'value') ?? '';
    const time = name === 'time' ? collector.text(element, 'datetime') : null;
    return time ?? collector.cut(textOf(element).replace(/\s+/g, ' '));
  }
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
