import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { ExtractRule, ExtractRules } from '../../../../capture/options/extract.ts';
import type { Output } from '../../../../capture/snapshot.ts';
import { elementsOf } from '../../find/find-elements.ts';
import { imageBoxes, type ToImage, windowBox } from '../image-boxes.ts';
import type { Reading } from '../reading.ts';
import { APPLY_RULES, type ExtractLimits } from './apply-rules.ts';
import { parseDate } from './parse-date.ts';
import { decimalOf, parseNumber } from './parse-number.ts';

const LIMITS = { values: 5_000, many: 1_000, characters: 2 * 1024 * 1024, valueCharacters: 64 * 1024 };
/** Maximum time in milliseconds, and its share of the time for the output. */
const MAX_MS = 4_000;
const SHARE = 0.5;
/** Values that are converted before others of the service have their turn. */
const VALUES_A_TURN = 250;

const found = z.object({ values: z.unknown(), language: z.string(), partial: z.boolean() });

/** What converts the values that the page answers with. */
interface Conversion {
  readonly decimal: string;
  readonly toImage: ToImage;
  left: number;
}

/** Finds the values that the request's rules ask for. What is missing is null. */
export async function extractValues(reading: Reading): Promise<Output> {
  const { ask, ms, request } = reading;
  const rules = request.extract ?? {};
  const limits: ExtractLimits = { ...LIMITS, ms: Math.min(MAX_MS, ms * SHARE), isPainted: needsPainted(rules) };
  const answer = await ask(`(${APPLY_RULES})(${sourceOf(rules)}, ${JSON.stringify(limits)})`);
  const { values, language, partial } = found.parse(answer);
  const conversion = { decimal: decimalOf(language), toImage: await imageBoxes(reading), left: VALUES_A_TURN };
  const content = JSON.stringify(await convertGroup(rules, values, conversion), null, 1);
  return { content: `${content}\n`, partial };
}

function needsPainted(rules: ExtractRules): boolean {
  return Object.values(rules).some(({ rules: inner, attribute, type = 'text' }) =>
    inner === undefined ? attribute === undefined && /^(?:text|number|date)$/.test(type) : needsPainted(inner),
  );
}

/** Returns JavaScript of the rules, in which selectors are functions that find their elements. */
function sourceOf(rules: ExtractRules): string {
  const each = Object.entries(rules).map(([name, { selector, rules: inner, ...rule }]) => {
    const find = selector === undefined ? 'null' : elementsOf(selector);
    const below = inner === undefined ? 'null' : sourceOf(inner);
    return `{ ...${JSON.stringify({ ...rule, name })}, find: ${find}, rules: ${below} }`;
  });
  return `[${each.join(', ')}]`;
}

async function convertGroup(rules: ExtractRules, values: unknown, conversion: Conversion): Promise<unknown> {
  if (typeof values !== 'object' || values === null) return null;
  const given = new Map<string, unknown>(Object.entries(values));
  const converted: [string, unknown][] = [];
  for (const [name, rule] of Object.entries(rules)) {
    converted.push([name, await convertAll(rule, given.get(name) ?? null, conversion)]);
  }
  return Object.fromEntries(converted);
}

async function convertAll(rule: ExtractRule, value: unknown, conversion: Conversion): Promise<unknown> {
  if (!rule.many) return convert(rule, value, conversion);
  const list: unknown[] = [];
  for (const each of Array.isArray(value) ? value : []) list.push(await convert(rule, each, conversion));
  return list;
}

async function convert({ type, rules }: ExtractRule, value: unknown, conversion: Conversion): Promise<unknown> {
  conversion.left -= 1;
  if (conversion.left === 0) {
    conversion.left = VALUES_A_TURN;
    await nextTurn();
  }
  if (rules !== undefined) return convertGroup(rules, value, conversion);
  if (type === 'box') return conversion.toImage(windowBox.parse(value));
  if (typeof value !== 'string') return null;
  if (type === 'number') return parseNumber(value, conversion.decimal);
  return type === 'date' ? parseDate(value) : value;
}
