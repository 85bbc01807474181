import { attribute, type PageElement, page, rootElementOf } from '../dom/dom.ts';
import { Extraction } from '../extract/apply-rules.ts';
import { keptFrames } from '../extract/entered-frames.ts';
import type { EnteredFrame, ExtractLimits, Finding, RuleInPage } from '../extract/rules.ts';

/** Maximum number of characters of a language tag. */
const MAX_LANGUAGE_CHARACTERS = 35;

interface Extracted {
  /** The findings of the rules by their names. */
  readonly values: Readonly<Record<string, Finding>>;
  readonly entered: readonly EnteredFrame[];
  readonly left: Extraction['left'];
  readonly language: string;
  readonly partial: boolean;
}

/** Returns what rules find in the document. The world keeps the frames that they entered, for `enteredFrames`. */
export function applyRules(rules: readonly RuleInPage[], limits: ExtractLimits): Extracted {
  const extraction = new Extraction(limits);
  const root = rootElementOf(page);
  const language = root === null ? '' : (attribute(root, 'lang') ?? '').slice(0, MAX_LANGUAGE_CHARACTERS);
  const values = extraction.apply(rules, null);
  const entered = extraction.keepFrames();
  return { values, entered, left: extraction.left, language, partial: extraction.isPartial };
}

/** Returns the elements of the frames that the last rules have entered. */
export function enteredFrames(): readonly PageElement[] {
  return keptFrames().elements;
}
