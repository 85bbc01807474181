import { z } from 'zod';
import { within } from '../../../capture/deadline.ts';
import type { ExtractRule, ExtractRules } from '../../../capture/options/extract.ts';
import { parseSelector } from '../../../capture/selector.ts';
import { OUTPUT_WORLD } from '../../../page/ask-page.ts';
import { elementsBy } from '../../../page/find/find-elements.ts';
import { frameIds, MAX_FRAMES, type NestedFrame } from '../../../page/find/places.ts';
import type { Reading } from '../reading.ts';
import { APPLY_RULES, ENTERED_FRAMES, type ExtractLimits } from './apply-rules.ts';

export const MAX_MANY = 1_000;
const MAX_VALUE_CHARACTERS = 64 * 1024;
/** Share of the time left that one frame may take: others shall answer too. */
const FRAME_SHARE = 0.5;

export const foundValues = z.record(z.string(), z.unknown());
const answered = z.object({
  values: foundValues,
  entered: z.array(z.object({ frame: z.number(), rule: z.number(), steps: z.number(), isShown: z.boolean() })),
  left: z.object({ values: z.number(), characters: z.number() }),
  language: z.string(),
  partial: z.boolean(),
});
type Entered = z.output<typeof answered>['entered'];

/** Findings of rules in one document. */
export interface FoundIn {
  readonly place: NestedFrame;
  /** Values as the page answers with them, by the names of their rules. */
  readonly values: z.output<typeof foundValues>;
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
    const place = { session: page.session, frame: page.frame, entrance: undefined };
    return this.#readIn(place, this.#sourceOf(this.#rules), needsPainted(this.#rules), true);
  }

  async #readIn(place: NestedFrame, source: string, isPainted: boolean, isShown: boolean): Promise<FoundIn> {
    const isFrame = place.entrance !== undefined;
    const ms = Math.max(1, (this.#endsAt - performance.now()) * (isFrame ? FRAME_SHARE : 1));
    const limits: ExtractLimits = {
      ...this.#left,
      many: MAX_MANY,
      valueCharacters: MAX_VALUE_CHARACTERS,
      frames: this.#framesLeft,
      ms,
      isPainted,
      isShown,
    };
    const asking = this.#reading.ask(`(${APPLY_RULES})(${source}, ${JSON.stringify(limits)})`, undefined, place);
    // A process that is busy answers nothing, not even that the time is over.
    const answer = await (isFrame ? within(ms, asking, undefined) : asking);
    const { values, entered, left, language, partial } = answered.parse(answer);
    this.#left = left;
    this.#partial ||= partial;
    return { place, values, language, entered: entered.length === 0 ? [] : await this.#readFrames(place, entered) };
  }

  async #readFrames(place: NestedFrame, entered: Entered): Promise<readonly (FoundIn | undefined)[]> {
    const ids = await frameIds(place, ENTERED_FRAMES, { world: OUTPUT_WORLD });
    this.#framesLeft -= ids.length;
    const found: (FoundIn | undefined)[] = entered.map(() => undefined);
    for (const [index, id] of ids.entries()) {
      const positions = entered.flatMap(({ frame }, at) => (frame === index ? [at] : []));
      // After the time limit, the output would be lost with everything that was found.
      const isLate = performance.now() > this.#endsAt;
      this.#partial ||= isLate;
      const inFrame = id === undefined || isLate ? undefined : await this.#readFrame(place, id, entered, positions);
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
    const source = continued.map(({ name, rule, steps }) => this.#sourceOfRule(name, rule, steps)).join(', ');
    const isPainted = continued.some(({ rule }) => needsPainted({ rule }));
    const isShown = positions.some((at) => entered[at]?.isShown === true);
    try {
      return await this.#readIn({ session, frame: { id }, entrance: { from } }, `[${source}]`, isPainted, isShown);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      // The document was replaced, or did not answer in time.
      this.#partial = true;
      return undefined;
    }
  }

  /** Returns the rules as JavaScript, with a function in place of each selector that finds its elements. */
  #sourceOf(rules: ExtractRules): string {
    const each = Object.entries(rules).map(([name, rule]) => this.#sourceOfRule(name, rule, 0));
    return `[${each.join(', ')}]`;
  }

  /** Each step after the first `done` ones may match a frame, so there is a function for each number of steps. */
  #sourceOfRule(name: string, rule: ExtractRule, done: number): string {
    const { selector, rules, ...rest } = rule;
    const facts = JSON.stringify({ ...rest, name, rule: this.#numbered.indexOf(rule), done });
    const steps = selector === undefined ? [] : parseSelector(selector).slice(done);
    const finds = steps.map((_step, at) => elementsBy(steps.slice(0, at + 1)));
    return `{ ...${facts}, finds: [${finds.join(', ')}], rules: ${rules === undefined ? 'null' : this.#sourceOf(rules)} }`;
  }
}

/** The rules and those nested in them. */
function rulesIn(rules: ExtractRules): readonly ExtractRule[] {
  return Object.values(rules).flatMap((rule) => [rule, ...rulesIn(rule.rules ?? {})]);
}

function needsPainted(rules: ExtractRules): boolean {
  return rulesIn(rules).some(
    ({ attribute, type }) => attribute === undefined && type !== undefined && /^(?:text|number|date)$/.test(type),
  );
}
