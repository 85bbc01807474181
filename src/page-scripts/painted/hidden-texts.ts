import type { PageNode } from '../dom/dom.ts';
import type { UnseenText } from './visible-characters.ts';

export interface HiddenText extends UnseenText {
  readonly node: PageNode;
}

/** Collects the texts that are not painted, up to a number of characters, and counts them all. */
export class HiddenTexts {
  readonly texts: HiddenText[] = [];
  readonly #maxCharacters: number;
  #characters = 0;
  #count = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether texts are collected, not only counted. */
  get isWanted(): boolean {
    return this.#maxCharacters > 0;
  }

  add(technique: string, node: PageNode, text: string): void {
    if (!this.isWanted) return;
    const words = text.replace(/\s+/g, ' ').trim();
    if (words === '') return;
    this.#count += 1;
    if (this.#characters >= this.#maxCharacters) return;
    const kept = words.slice(0, this.#maxCharacters - this.#characters);
    this.#characters += kept.length;
    this.texts.push({ technique, text: kept, node });
  }
}
