import { attribute, type PageElement } from '../dom/dom.ts';
import { resolved } from '../dom/urls.ts';
import { web } from '../dom/web.ts';

/** Bounds of what is read of a page's metadata. */
export interface MetadataLimits {
  /** Maximum number of characters of the answer as JSON, and of one text. */
  readonly characters: number;
  readonly textCharacters: number;
  /** Maximum number of elements of each kind, of properties of microdata, and of levels of nested values. */
  readonly elements: number;
  readonly properties: number;
  readonly levels: number;
  /** Time limit in milliseconds. */
  readonly ms: number;
}

/** Characters of the answer without any value. */
const FRAME = 200;
/** Maximum number of characters of JSON for one of a text: control characters are escaped. */
const MAX_ESCAPED = 6;

/** Reads elements and their values within common bounds. */
export class Collector {
  readonly limits: MetadataLimits;
  readonly #endsAt: number;
  #characters: number;
  #isPartial = false;

  constructor(limits: MetadataLimits) {
    this.limits = limits;
    this.#endsAt = web.performance.now() + limits.ms;
    this.#characters = limits.characters - FRAME;
  }

  /** Whether a bound cut what the page says. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  get isOver(): boolean {
    return this.#characters <= 0 || web.performance.now() > this.#endsAt;
  }

  cutHere(): void {
    this.#isPartial = true;
  }

  /** Number of characters of JSON that there is room for. */
  get room(): number {
    return this.#characters;
  }

  /** Takes the room of characters of JSON; false when there is not as much. A negative number gives room back. */
  takes(characters: number): boolean {
    if (characters > this.#characters) {
      this.#isPartial = true;
      return false;
    }
    this.#characters -= characters;
    return true;
  }

  *first(elements: readonly PageElement[]): Generator<PageElement> {
    for (const [at, element] of elements.entries()) {
      if (at >= this.limits.elements || this.isOver) {
        this.#isPartial = true;
        return;
      }
      yield element;
    }
  }

  /** Returns the beginning of a text without white space around it. */
  cut(text: string): string {
    const { textCharacters } = this.limits;
    const trimmed = text.slice(0, 4 * textCharacters).trim();
    const kept = this.#fitting(trimmed.slice(0, textCharacters).toWellFormed());
    if (trimmed.length > kept.length || text.length > 4 * textCharacters) this.#isPartial = true;
    this.#characters -= sizeOf(kept);
    return kept;
  }

  #fitting(text: string): string {
    if (sizeOf(text) <= this.#characters) return text;
    return text.slice(0, Math.max(0, Math.floor(this.#characters / MAX_ESCAPED) - 1)).toWellFormed();
  }

  /** Returns the value of an attribute; null when the element has none. */
  text(element: PageElement, name: string): string | null {
    const value = attribute(element, name);
    return value === null ? null : this.cut(value);
  }

  /** Returns the absolute URL in an attribute, or the value when it is none; null when there is no value. */
  url(element: PageElement, name: string): string | null {
    const value = attribute(element, name);
    if (value === null || value.trim() === '') return null;
    const url = value.length <= this.limits.textCharacters ? resolved(value, element) : null;
    return this.cut(url?.href ?? value);
  }
}

/** Number of characters of a text in JSON, with what separates it from the next one. */
function sizeOf(text: string): number {
  return JSON.stringify(text).length + 1;
}
