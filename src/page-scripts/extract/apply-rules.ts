import { isVisible, visibleBox } from '../boxes/drawn-box.ts';
import { ancestors } from '../dom/composed-tree.ts';
import { attribute, htmlOf, isFrame, nameOf, type PageElement, page, rootElementOf } from '../dom/dom.ts';
import { elementsBy } from '../dom/find.ts';
import { resolved } from '../dom/urls.ts';
import { web } from '../dom/web.ts';
import { findPainted, type Painted } from '../painted/find-painted.ts';
import { isMarked } from '../painted/items.ts';
import { joinText } from '../painted/join-text.ts';
import { EnteredFrames } from './entered-frames.ts';
import { itemsIn } from './items-in.ts';
import { moneyText } from './money-text.ts';
import type { EnteredFrame, ExtractLimits, Finding, RuleInPage, Value } from './rules.ts';

/** Bounds of the search for painted text, and its share of the time. */
const PAINTED_LIMITS = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0 };
const PAINTED_SHARE = 0.5;
/** Attributes whose values are read in place of painted text, by the name of their element. */
const MACHINE_VALUES: ReadonlyMap<string, string> = new Map([
  ['time', 'datetime'],
  ['data', 'value'],
  ['meter', 'value'],
  ['progress', 'value'],
  ['meta', 'content'],
]);
/** Types of painted text. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'number', 'money', 'date']);
const URLS = new Set(['href', 'src', 'action', 'formaction', 'poster', 'cite', 'data', 'longdesc']);

/** Applies rules to the document of the page. */
export class Extraction {
  readonly #limits: ExtractLimits;
  readonly #endsAt: number;
  readonly #painted: Painted<PageElement> | null;
  readonly #itemsIn: ReturnType<typeof itemsIn<PageElement>>;
  readonly #paintedFrames: ReadonlySet<PageElement>;
  readonly #frames: EnteredFrames;
  #values: number;
  #characters: number;
  #isPartial: boolean;

  constructor(limits: ExtractLimits) {
    this.#limits = limits;
    this.#endsAt = web.performance.now() + limits.ms;
    this.#painted = limits.isPainted && limits.isShown ? findPaintedAndFrames(limits.ms * PAINTED_SHARE) : null;
    const items = this.#painted?.items ?? [];
    this.#itemsIn = itemsIn(items);
    this.#paintedFrames = new Set(items.filter(isMarked).map(({ element }) => element));
    this.#frames = new EnteredFrames(limits.frames);
    this.#values = limits.values;
    this.#characters = limits.characters;
    this.#isPartial = this.#painted?.partial ?? false;
  }

  /** Whether a limit was reached, so that values are cut or missing. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** How many values and characters other documents may still have. */
  get left(): { readonly values: number; readonly characters: number } {
    return { values: this.#values, characters: this.#characters };
  }

  keepFrames(): EnteredFrame[] {
    return this.#frames.keep();
  }

  /** `start`: the element below which selectors find elements; null for the document. */
  apply(rules: readonly RuleInPage[], start: PageElement | null): Record<string, Finding> {
    return Object.fromEntries(rules.map((rule) => [rule.name, this.#findingOf(rule, start)]));
  }

  #findingOf(rule: RuleInPage, start: PageElement | null): Finding {
    const value = this.#valueOf(rule, start);
    const isSummed = rule.many || rule.type === 'count';
    return { value, entered: isSummed || value === null ? this.#enterFrames(rule, start) : [] };
  }

  #valueOf(rule: RuleInPage, start: PageElement | null): Value {
    const { many, rules } = rule;
    if (this.#isOver()) return many ? [] : null;
    const elements = this.#elementsFor(rule, start);
    if (rule.type === 'count') return this.#countOf(elements);
    const isCut = elements.length > this.#limits.many && (many || rules === null);
    if (isCut && many) this.#isPartial = true;
    const values: Value[] = [];
    for (const element of isCut ? elements.slice(0, this.#limits.many) : elements) {
      if (this.#isOver()) break;
      this.#values -= 1;
      const value = this.#read(rule, element);
      if (many) values.push(value);
      else if (value !== null) return value;
    }
    if (many) return values;
    // There, and empty, unless the rule goes on in a frame.
    const isEmpty = rule.steps.length === 1 && TEXTS.has(rule.type ?? '') && elements.some((each) => !isBusy(each));
    return isEmpty && this.#limits.isShown ? '' : null;
  }

  #elementsFor({ steps }: RuleInPage, start: PageElement | null): readonly PageElement[] {
    if (steps.length > 0) return this.#elementsBy(steps, start);
    const element = start ?? rootElementOf(page);
    return element === null ? [] : [element];
  }

  #elementsBy(steps: RuleInPage['steps'], start: PageElement | null): readonly PageElement[] {
    try {
      return elementsBy(steps, start ?? page);
    } catch {
      this.#isPartial = true;
      return [];
    }
  }

  #read({ type, attribute: name, rules }: RuleInPage, element: PageElement): Value {
    if (rules !== null) return this.apply(rules, element);
    if (type === 'box') return this.#boxOf(element);
    const text = type === 'html' ? htmlOf(element) : this.#textOf(element, type, name);
    return text === null ? null : this.#cut(text);
  }

  #countOf(elements: readonly PageElement[]): number {
    let count = 0;
    for (const element of elements) {
      if (this.#isOver()) break;
      if (this.#limits.isShown && isVisible(element, { opacityProperty: true })) count += 1;
    }
    return count;
  }

  #textOf(element: PageElement, type: string | undefined, name: string | undefined): string | null {
    if (name !== undefined) return this.#attributeOf(element, name);
    if (isBusy(element)) return null;
    const machines = type === 'text' ? undefined : MACHINE_VALUES.get(nameOf(element));
    const written = machines === undefined ? null : attribute(element, machines);
    // Values for machines have no currency.
    if (type === 'money') return moneyText(this.#itemsIn(element), element) || written;
    return written ?? (joinText(this.#itemsIn(element)) || null);
  }

  #attributeOf(element: PageElement, name: string): string | null {
    const value = attribute(element, name);
    if (value === null || value.length > this.#limits.valueCharacters || !URLS.has(name.toLowerCase())) return value;
    return resolved(value, element)?.href ?? value;
  }

  #boxOf(element: PageElement) {
    const box = this.#limits.isShown ? visibleBox(element, { opacityProperty: true }) : null;
    return box === null ? null : { x: box.x, y: box.y, width: box.width, height: box.height };
  }

  #cut(text: string): string {
    const max = Math.min(this.#limits.valueCharacters, this.#characters);
    if (text.length > max) this.#isPartial = true;
    const kept = text.slice(0, max).toWellFormed();
    this.#characters -= kept.length;
    return kept;
  }

  #isOver(): boolean {
    const isOver = this.#values <= 0 || this.#characters <= 0 || web.performance.now() > this.#endsAt;
    if (isOver) this.#isPartial = true;
    return isOver;
  }

  /** Each step but the last may match a frame, in which the rule goes on. */
  #enterFrames({ steps, rule, done }: RuleInPage, start: PageElement | null): number[] {
    if (this.#isOver()) return [];
    return steps.slice(1).flatMap((_, at) => {
      const frames = this.#elementsBy(steps.slice(0, at + 1), start).filter(isFrame);
      return frames.flatMap((frame) => this.#enter(frame, rule, done + at + 1));
    });
  }

  #enter(frame: PageElement, rule: number, steps: number): number[] {
    const { isShown, isPainted } = this.#limits;
    const isFrameShown = () => isShown && this.#boxOf(frame) !== null && (!isPainted || this.#paintedFrames.has(frame));
    const at = this.#frames.enter(frame, rule, steps, isFrameShown);
    if (at === undefined) this.#isPartial = true;
    return at === undefined ? [] : [at];
  }
}

/** Whether scripts are still to fill in an element: it shows a placeholder. */
const isBusy = (element: PageElement): boolean =>
  ancestors(element).some((each) => attribute(each, 'aria-busy') === 'true');

const findPaintedAndFrames = (ms: number): Painted<PageElement> =>
  findPainted<PageElement>({ ...PAINTED_LIMITS, ms }, (element) => (isFrame(element) ? element : undefined));
