import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExtractRule, ExtractRules } from '../../../capture/options/extract.ts';
import type { Output } from '../../../capture/snapshot.ts';
import { toPage } from '../../../page/find/box-in-page.ts';
import { imageBoxes, type ToImage, windowBox } from '../image-boxes.ts';
import type { Reading } from '../reading.ts';
import { parseDate } from './parse-date.ts';
import { decimalOf, parseNumber } from './parse-number.ts';
import { DocumentReader, type FoundIn, foundValues, MAX_MANY } from './read-documents.ts';

/** Maximum time in milliseconds, and its share of the time for the output. */
const MAX_MS = 4_000;
const SHARE = 0.5;
/** Number of values that are converted in one turn of the event loop. */
const VALUES_A_TURN = 250;

/** Conversion of the values that a document answers with. */
interface Conversion {
  readonly decimal: string;
  readonly toImage: ToImage;
  /** Values found in the frames that rules entered; undefined for a frame without answer. */
  readonly entered: readonly (Converted | undefined)[];
  /** Shared by all documents: number of values until the event loop gets a turn, and whether a list was cut. */
  readonly common: { left: number; isCut: boolean };
}

interface Converted {
  readonly values: FoundIn['values'];
  readonly conversion: Conversion;
}

/** Finds the values that the request's rules ask for. What is missing is null. */
export async function extractValues(reading: Reading): Promise<Output> {
  const rules = reading.request.extract ?? {};
  const reader = new DocumentReader(reading, rules, Math.min(MAX_MS, reading.ms * SHARE));
  const found = await reader.read();
  const common = { left: VALUES_A_TURN, isCut: false };
  const { values, conversion } = await conversionOf(found, await imageBoxes(reading), common);
  const content = JSON.stringify(await convertGroup(rules, values, conversion), null, 1);
  return { content: `${content}\n`, partial: reader.partial || common.isCut };
}

async function conversionOf(found: FoundIn, toImage: ToImage, common: Conversion['common']): Promise<Converted> {
  const { place, language, values } = found;
  const toWindow = place.entrance === undefined ? undefined : await toPage(place);
  const known = new Map<FoundIn, Promise<Converted>>();
  for (const each of found.entered) {
    if (each !== undefined && !known.has(each)) known.set(each, conversionOf(each, toImage, common));
  }
  const entered = await Promise.all(found.entered.map((each) => each && known.get(each)));
  const fromFrame: ToImage = (box) => toImage(box === null ? null : (toWindow?.(box) ?? null));
  const placed = place.entrance === undefined ? toImage : fromFrame;
  return { values, conversion: { decimal: decimalOf(language), toImage: placed, entered, common } };
}

async function convertGroup(rules: ExtractRules, values: unknown, conversion: Conversion): Promise<unknown> {
  const { data } = foundValues.safeParse(values);
  if (data === undefined) return null;
  const converted: [string, unknown][] = [];
  for (const [name, rule] of Object.entries(rules)) {
    converted.push([name, await convertRule(rule, name, { values: data, conversion })]);
  }
  return Object.fromEntries(converted);
}

/** Converts the values of a rule: those of the document, then those of the frames that it entered. */
async function convertRule(rule: ExtractRule, name: string, { values, conversion }: Converted): Promise<unknown> {
  const { value, entered } = values[name] ?? { value: null, entered: [] };
  const own = rule.many && Array.isArray(value) ? value : value === null ? [] : [value];
  const list: unknown[] = [];
  for (const each of own) list.push(await convert(rule, each, conversion));
  for (const at of entered) {
    const inFrame = conversion.entered[at];
    if (inFrame === undefined) continue;
    const more = await convertRule(rule, String(at), inFrame);
    if (!rule.many && more !== null) return more;
    if (Array.isArray(more)) list.push(...more);
  }
  if (!rule.many) return list[0] ?? null;
  if (list.length > MAX_MANY) conversion.common.isCut = true;
  return list.slice(0, MAX_MANY);
}

async function convert({ type, rules }: ExtractRule, value: unknown, conversion: Conversion): Promise<unknown> {
  const { common } = conversion;
  common.left -= 1;
  if (common.left === 0) {
    common.left = VALUES_A_TURN;
    await nextTurn();
  }
  if (rules !== undefined) return convertGroup(rules, value, conversion);
  if (type === 'box') return conversion.toImage(windowBox.parse(value));
  if (typeof value !== 'string') return null;
  if (type === 'number') return parseNumber(value, conversion.decimal);
  return type === 'date' ? parseDate(value) : value;
}
