import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExtractRule, ExtractRules } from '../../../capture/options/extract.ts';
import type { Output } from '../../../capture/result/snapshot.ts';
import { toPage } from '../../../page/find/box-in-page.ts';
import { imageBoxes, type ToImage, windowBox } from '../../documents/image-boxes.ts';
import type { Reading } from '../../documents/reading.ts';
import { readMetadata } from '../metadata.ts';
import { type Metadata, type MetadataText, parseMetadata, textsAt } from './metadata-values.ts';
import { parseDate } from './parse-date.ts';
import { parseMoney } from './parse-money.ts';
import { decimalOf, parseNumber } from './parse-number.ts';
import { DocumentReader, type FoundIn, foundValues, MAX_MANY } from './read-documents.ts';

/** Maximum time in milliseconds, and its share of the time for the output. */
const MAX_MS = 4_000;
const SHARE = 0.5;
/** Number of values that are converted in one turn of the event loop. */
const VALUES_A_TURN = 250;

/** How numbers are written. `decimal`: the separator of the decimals. */
interface Locale {
  readonly language: string;
  readonly decimal: string;
}

const ENGLISH: Locale = { language: 'en', decimal: '.' };

/** Conversion of the values that a document answers with. */
interface Conversion {
  readonly locale: Locale;
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

/** Finds the values that the request's rules ask for. A missing value is null. */
export async function extractValues(reading: Reading): Promise<Output> {
  const rules = reading.request.extract ?? {};
  const [inMetadata, inPage] = [rulesWhere(rules, isOfMetadata), rulesWhere(rules, (rule) => !isOfMetadata(rule))];
  const reader = new DocumentReader(reading, inPage, Math.min(MAX_MS, reading.ms * SHARE));
  const found = await reader.read();
  const common = { left: VALUES_A_TURN, isCut: false };
  const { values, conversion } = await conversionOf(found, await imageBoxes(reading), common);
  const ofPage = await convertGroup(inPage, values, conversion);
  const metadata = Object.keys(inMetadata).length === 0 ? undefined : await readMetadata(reading);
  const page = metadata === undefined ? undefined : parseMetadata(String(metadata.content));
  const all = Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [name, isOfMetadata(rule) ? ofMetadata(rule, page) : ofPage?.[name]]),
  );
  const content = JSON.stringify(all, null, 1);
  return { content: `${content}\n`, partial: reader.partial || common.isCut || metadata?.partial === true };
}

const isOfMetadata = ({ metadata }: ExtractRule): boolean => metadata !== undefined;

function rulesWhere(rules: ExtractRules, isWanted: (rule: ExtractRule) => boolean): ExtractRules {
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => isWanted(rule)));
}

/** Machines write numbers as English does. */
function ofMetadata(rule: ExtractRule, page: Metadata | undefined): unknown {
  const texts = page === undefined ? [] : textsAt(page, rule.metadata ?? '');
  if (rule.type === 'count') return texts.length;
  const values = texts.slice(0, MAX_MANY).map((found) => valueOfMetadata(rule, found));
  return rule.many ? values : (values[0] ?? null);
}

function valueOfMetadata(rule: ExtractRule, { text, currency, to }: MetadataText): unknown {
  if (rule.type !== 'money') return readAs(rule, text, ENGLISH);
  const written = [text, ...(to === undefined ? [] : [to])].map((sum) => `${sum} ${currency ?? ''}`.trim()).join(' - ');
  return readAs(rule, written, ENGLISH);
}

/** Returns the value of a text, as the type of its rule has it. */
function readAs({ type, withText }: ExtractRule, text: string, locale: Locale): unknown {
  const value = ofType(type, text, locale);
  return withText ? { value, text } : value;
}

function ofType(type: ExtractRule['type'], text: string, locale: Locale): unknown {
  switch (type) {
    case 'number':
      return parseNumber(text, locale.decimal);
    case 'money':
      return parseMoney(text, locale.decimal, locale.language);
    case 'date':
      return parseDate(text);
    default:
      return text;
  }
}

async function conversionOf(found: FoundIn, toImage: ToImage, common: Conversion['common']): Promise<Converted> {
  const { document, language, values } = found;
  const toWindow = document.entrance === undefined ? undefined : await toPage(document);
  const known = new Map<FoundIn, Promise<Converted>>();
  for (const each of found.entered) {
    if (each !== undefined && !known.has(each)) known.set(each, conversionOf(each, toImage, common));
  }
  const entered = await Promise.all(found.entered.map((each) => each && known.get(each)));
  const fromFrame: ToImage = (box) => toImage(box === null ? null : (toWindow?.(box) ?? null));
  const placed = document.entrance === undefined ? toImage : fromFrame;
  return {
    values,
    conversion: { locale: { language, decimal: decimalOf(language) }, toImage: placed, entered, common },
  };
}

async function convertGroup(
  rules: ExtractRules,
  values: unknown,
  conversion: Conversion,
): Promise<Record<string, unknown> | null> {
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
    if (rule.type === 'count') list.push(more);
    else if (!rule.many && more !== null) return more;
    else if (Array.isArray(more)) list.push(...more);
  }
  if (rule.type === 'count') return list.reduce<number>((sum, each) => sum + Number(each), 0);
  if (!rule.many) return list[0] ?? null;
  if (list.length > MAX_MANY) conversion.common.isCut = true;
  return list.slice(0, MAX_MANY);
}

async function convert(rule: ExtractRule, value: unknown, conversion: Conversion): Promise<unknown> {
  const { type, rules } = rule;
  const { common } = conversion;
  common.left -= 1;
  if (common.left === 0) {
    common.left = VALUES_A_TURN;
    await nextTurn();
  }
  if (rules !== undefined) return convertGroup(rules, value, conversion);
  if (type === 'box') return conversion.toImage(windowBox.parse(value));
  if (type === 'count') return typeof value === 'number' ? value : 0;
  if (typeof value !== 'string') return null;
  // An empty element has no value, also not that of a text.
  return value !== '' || rule.withText || type === 'attribute' ? readAs(rule, value, conversion.locale) : null;
}
