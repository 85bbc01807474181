import type { PageElement } from '../dom/dom.ts';
import { kept } from '../running/kept.ts';
import type { EnteredFrame } from './rules.ts';

/** Where the world keeps the elements of the frames that rules entered, until the service has found their documents. */
export const keptFrames = () => kept('entered', () => ({ elements: [] as readonly PageElement[] }));

/** The frames that the rules of a document enter. */
export class EnteredFrames {
  readonly #frames = new Map<PageElement, number>();
  readonly #entered = new Map<string, EnteredFrame & { readonly at: number }>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the index of a frame in which a rule goes on; undefined when there are too many frames. */
  enter(frame: PageElement, rule: number, steps: number, isShown: () => boolean): number | undefined {
    if (!this.#frames.has(frame) && this.#frames.size >= this.#max) return undefined;
    const number = this.#frames.get(frame) ?? this.#frames.size;
    this.#frames.set(frame, number);
    const key = `${number} ${rule} ${steps}`;
    const before = this.#entered.get(key);
    if (before !== undefined) return before.at;
    const at = this.#entered.size;
    this.#entered.set(key, { at, frame: number, rule, steps, isShown: isShown() });
    return at;
  }

  /** Keeps the elements, and returns how rules go on. */
  keep(): EnteredFrame[] {
    keptFrames().elements = [...this.#frames.keys()];
    return [...this.#entered.values()].map(({ at: _, ...entered }) => entered);
  }
}
