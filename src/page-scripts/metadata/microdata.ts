import { attribute, childrenOf, elementById, nameOf, type PageElement, page, select, textOf } from '../dom.ts';
import type { Collector } from './collector.ts';

export interface Item {
  readonly type: readonly string[];
  properties: Record<string, (string | Item)[]>;
  id?: string;
}

/** Returns the items of microdata that are in no other item. */
export function microdataOf(collector: Collector): Item[] {
  const reader = new MicrodataReader(collector);
  return [...collector.first(select(page, '[itemscope]:not([itemprop])'))].map((element) => reader.itemOf(element, 0));
}

class MicrodataReader {
  readonly #collector: Collector;
  #properties: number;

  constructor(collector: Collector) {
    this.#collector = collector;
    this.#properties = collector.limits.properties;
  }

  itemOf(element: PageElement, level: number): Item {
    const type = wordsOf(this.#collector.text(element, 'itemtype') ?? '');
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
        const value = isItem ? this.itemOf(each, level + 1) : this.#valueOf(each);
        for (const name of wordsOf(this.#collector.cut(names))) {
          const values = all.get(name) ?? [];
          values.push(value);
          all.set(name, values);
        }
      }
      if (!isItem) stack.push(...childrenOf(each).toReversed());
    }
    return Object.fromEntries(all);
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
