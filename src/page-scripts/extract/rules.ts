import type { SelectorStep } from '../../capture/comparison/selector.ts';

/** Bounds of an extraction. */
export interface ExtractLimits {
  /** Maximum number of values, of elements of a rule with `many`, of characters, and of characters of one value. */
  readonly values: number;
  readonly many: number;
  readonly characters: number;
  readonly valueCharacters: number;
  /** Maximum number of frames that selectors enter. */
  readonly frames: number;
  /** Time limit in milliseconds. */
  readonly ms: number;
  /** Whether painted text is needed, which takes most of the time. */
  readonly isPainted: boolean;
  /** Whether the frames around the document show it. */
  readonly isShown: boolean;
}

/** A rule as the page applies it. */
export interface RuleInPage {
  readonly name: string;
  /** The number of the rule among all rules of the request. */
  readonly rule: number;
  /** The steps of its selector in this document, and how many steps led here. */
  readonly steps: readonly SelectorStep[];
  readonly done: number;
  readonly many: boolean;
  /** A `ValueType`, whose own file needs types that a page script has not. */
  readonly type?: string | undefined;
  readonly attribute?: string | undefined;
  /** The rules that are applied below its element, in place of a type. */
  readonly rules: readonly RuleInPage[] | null;
}

/**
 * A text, a box in CSS pixels of the window, null for what is missing, a list of these, or the findings of nested
 * rules.
 */
export type Value = unknown;

/** The value of a rule. `entered`: indexes into the list of the frames in which the rule goes on. */
export interface Finding {
  readonly value: Value;
  readonly entered: readonly number[];
}

/** A frame in which a rule goes on after a number of its steps; `frame`: index into the frames that were entered. */
export interface EnteredFrame {
  readonly frame: number;
  readonly rule: number;
  readonly steps: number;
  readonly isShown: boolean;
}
