import { z } from 'zod';
import { parseSelector } from '../../../capture/comparison/selector.ts';
import { within } from '../../../capture/deadline.ts';
import type { ExtractRule, ExtractRules } from '../../../capture/options/extract.ts';
import { call, type ResultOf } from '../../../page/asking/page-scripts.ts';
import { frameIds, MAX_FRAMES, type NestedFrame } from '../../../page/find/documents.ts';
import type { RuleInPage } from '../../../page-scripts/extract/rules.ts';
import type { Reading } from '../../documents/reading.ts';

export const MAX_MANY = 1_000;
const MAX_VALUE_CHARACTERS = 64 * 1024;
/** Share of the time left that one frame may take: others shall answer too. */
const FRAME_SHARE = 0.5;

const finding = z.object({ value: z.unknown(), entered: z.array(z.number()) });
export const foundValues = z.record(z.string(), finding);
const answered: z.ZodType<ResultOf<'applyRules'>> = z.object({
  values: foundValues,
  entered: z.array(z.object({ frame: z.number(), rule: z.number(), steps: z.number(), isShown: z.boolean() })),
  left: z.object({ values: z.number(), characters: z.number() }),
  language: z.string(),
  partial: z.boolean(),
});
type Entered = ResultOf<'applyRules'>['entered'];

/** Findings of rules in one document. */
export interface FoundIn {
  readonly document: NestedFrame;
  /** Values as the page answers with them, by the names of their rules. */
  readonly values: ResultOf<'applyRules'>['values'];
  /** The document's language; empty when it says none. */
  readonly language: string;
  /** Findings in the frames that rules entered, by the frame's position; undefined for a frame without an answer. */
  readonly entered: readonly (FoundIn | undefined)[];
}

/** Applies rules to the page and to the frames that their selectors enter, within common bounds. */
export class DocumentReader {
  readonly #reading: Reading;
  readonly #rules: ExtractRules;
  readonly #numbered: readonly ExtractRule[];
  readonly #endsAt: number;
  #left = { values: 5_000, characters: 2 * 1024 * 1024 };
  #framesLeft = MAX_FRAMES;
  #partial = false;

  constructor(reading: Reading, rules: ExtractRules, maxMs: number) {
    this.#reading = reading;
    this.#rules = rules;
    this.#numbered = rulesIn(rules);
    this.#endsAt = performance.now() + maxMs;
  }

  /** Whether a bound or a missing answer cut what was found. */
  get partial(): boolean {
    return this.#partial;
  }

  async read(): Promise<FoundIn> {
    const { page } = this.#reading;
    const document = { session: page.session, frame: page.frame, entrance: undefined };
    return this.#readIn(document, this.#rulesInPage(this.#rules), needsPainted(this.#rules), true);
  }

  async #readIn(
    document: NestedFrame,
    rules: readonly RuleInPage[],
    isPainted: boolean,
    isShown: boolean,
  ): Promise<FoundIn> {
    const isFrame = document.entrance !== undefined;
    const ms = Math.max(1, (this.#endsAt - performance.now()) * (isFrame ? FRAME_SHARE : 1));
    const limits = {
      ...this.#left,
      many: MAX_MANY,
      valueCharacters: MAX_VALUE_CHARACTERS,
      frames: this.#framesLeft,
      ms,
      isPainted,
      isShown,
    };
    const asking = this.#reading.ask(call('applyRules', rules, limits), undefined, document);
    // A process that is busy answers nothing, not even that the time is over.
    const answer = await (isFrame ? within(ms, asking, undefined) : asking);
    const { values, entered, left, language, partial } = answered.parse(answer);
    this.#left = left;
    this.#partial ||= partial;
    return {
      document,
      values,
      language,
      entered: entered.length === 0 ? [] : await this.#readFrames(document, entered),
    };
  }

  async #readFrames(document: NestedFrame, entered: Entered): Promise<readonly (FoundIn | undefined)[]> {
    const ids = await frameIds(document, call('enteredFrames'), { world: this.#reading.world });
    this.#framesLeft -= ids.length;
    const found: (FoundIn | undefined)[] = entered.map(() => undefined);
    for (const [index, id] of ids.entries()) {
      const positions = entered.flatMap(({ frame }, at) => (frame === index ? [at] : []));
      // After the time limit, the output would be lost with everything that was found.
      const isLate = performance.now() > this.#endsAt;
      this.#partial ||= isLate;
      const inFrame = id === undefined || isLate ? undefined : await this.#readFrame(document, id, entered, positions);
      for (const at of positions) found[at] = inFrame;
    }
    return found;
  }

  async #readFrame(
    from: NestedFrame,
    id: string,
    entered: Entered,
    positions: readonly number[],
  ): Promise<FoundIn | undefined> {
    const session = this.#reading.page.frames.outOfProcess.get(id) ?? from.session;
    const continued = positions.flatMap((at) => {
      const { rule: number, steps = 0 } = entered[at] ?? {};
      const rule = this.#numbered[number ?? -1];
      return rule === undefined ? [] : [{ name: String(at), rule, steps }];
    });
    const rules = continued.map(({ name, rule, steps }) => this.#ruleInPage(name, rule, steps));
    const isPainted = continued.some(({ rule }) => needsPainted({ rule }));
    const isShown = positions.some((at) => entered[at]?.isShown === true);
    try {
      return await this.#readIn({ session, frame: { id }, entrance: { from } }, rules, isPainted, isShown);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      // The document was replaced, or did not answer in time.
      this.#partial = true;
      return undefined;
    }
  }

  #rulesInPage(rules: ExtractRules): readonly RuleInPage[] {
    return Object.entries(rules).map(([name, rule]) => this.#ruleInPage(name, rule, 0));
  }

  /** The first `done` steps of the rule's selector led to the document. */
  #ruleInPage(name: string, rule: ExtractRule, done: number): RuleInPage {
    const { selector, rules, ...rest } = rule;
    const steps = selector === undefined ? [] : parseSelector(selector).slice(done);
    const inner = rules === undefined ? null : this.#rulesInPage(rules);
    return { ...rest, name, rule: this.#numbered.indexOf(rule), steps, done, rules: inner };
  }
}

/** The rules and those nested in them. */
function rulesIn(rules: ExtractRules): readonly ExtractRule[] {
  return Object.values(rules).flatMap((rule) => [rule, ...rulesIn(rule.rules ?? {})]);
}

function needsPainted(rules: ExtractRules): boolean {
  return rulesIn(rules).some(
    ({ attribute, type }) => attribute === undefined && type !== undefined && /^(?:text|number|money|date)$/.test(type),
  );
}
