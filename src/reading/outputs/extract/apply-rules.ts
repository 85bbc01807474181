import { IS_FRAME } from '../../../page/find/places.ts';
import { NODES } from '../nodes.ts';
import { PAINTED } from '../painted.ts';
import { JOIN_TEXT } from '../painted-text.ts';

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

/** Where the page keeps the frames that were entered, until they are read. */
export const ENTERED_FRAMES = `globalThis[Symbol.for('capstan-entered')]`;

/** Nodes and characters that are searched for painted text. */
const PAINTED_LIMITS = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0 };

/**
 * Runs in the page. Returns which of the painted items lie in an element. They are in reading order, so those of an
 * element follow each other.
 */
const ITEMS_IN = `(items, nodes) => {
  const { typeOf, composedParent, windowOf } = nodes;
  const ranges = new Map();
  const outer = (element) => {
    const parent = composedParent(element);
    if (parent === null) return null;
    return typeOf(parent) === 9 ? windowOf(parent)?.frameElement ?? null : parent;
  };
  const visit = (at, side) => {
    for (let each = items[at].parent ?? null; each !== null; each = outer(each)) {
      const range = ranges.get(each) ?? {};
      // The elements around it have theirs already.
      if (range[side] !== undefined) return;
      range[side] = at;
      ranges.set(each, range);
    }
  };
  for (let at = 0; at < items.length; at += 1) visit(at, 'first');
  for (let at = items.length - 1; at >= 0; at -= 1) visit(at, 'last');
  return (element) => {
    const range = ranges.get(element);
    return range === undefined ? [] : items.slice(range.first, range.last + 1);
  };
}`;

/** Attributes whose values are read in place of painted text, by the name of their element. */
const MACHINE_VALUES = `{ time: 'datetime', data: 'value', meter: 'value', progress: 'value', meta: 'content' }`;
const URLS = 'new Set(["href", "src", "action", "formaction", "poster", "cite", "data", "longdesc"])';

/**
 * Runs in the page. Returns the values of rules by their names: texts, boxes in CSS pixels of the window, null for what
 * is missing, lists, and objects of nested rules. Each comes as `{ value, entered }`, where `entered` are indexes into
 * the answer's list of that name. An entry of the list names a frame in which a rule goes on, and how many of its steps
 * are done. `partial`: a limit was reached, so values are cut or missing.
 */
export const APPLY_RULES = `(rules, limits) => {
  const endsAt = performance.now() + limits.ms;
  const { nameOf, htmlOf, baseOf, attribute, rootElementOf } = ${NODES};
  const root = rootElementOf(document);
  const machineValues = ${MACHINE_VALUES};
  const urls = ${URLS};
  const isFrame = ${IS_FRAME};
  const paintedLimits = { ...${JSON.stringify(PAINTED_LIMITS)}, ms: limits.ms / 2 };
  const frameOf = (element) => isFrame(element) ? element : undefined;
  const painted = limits.isPainted && limits.isShown ? (${PAINTED})(paintedLimits, frameOf) : null;
  const itemsIn = painted === null ? () => [] : (${ITEMS_IN})(painted.items, painted.nodes);
  const paintedFrames = new Set(painted === null ? [] : painted.items.map(({ element }) => element));
  const join = ${JOIN_TEXT};
  let [left, characters, partial] = [limits.values, limits.characters, painted?.partial ?? false];

  const cut = (text) => {
    const most = Math.min(limits.valueCharacters, characters);
    if (text.length > most) partial = true;
    const kept = text.slice(0, most).toWellFormed();
    characters -= kept.length;
    return kept;
  };
  const attributeOf = (element, name) => {
    const value = attribute(element, name);
    if (value === null || value.length > limits.valueCharacters || !urls.has(name.toLowerCase())) return value;
    const base = baseOf(element);
    return URL.canParse(value, base) ? new URL(value, base).href : value;
  };
  const textOf = (element) => {
    const text = join(itemsIn(element));
    return text === '' ? null : text;
  };
  const boxOf = (element) => {
    const isVisible = Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true });
    const { x, y, width, height } = Element.prototype.getBoundingClientRect.call(element);
    return limits.isShown && isVisible && width > 0 && height > 0 ? { x, y, width, height } : null;
  };
  const read = ({ type, attribute: name, rules }, element) => {
    if (rules !== null) return apply(rules, element);
    if (type === 'box') return boxOf(element);
    const named = name ?? (type === 'text' ? undefined : machineValues[nameOf(element)]);
    const text = type === 'html' ? htmlOf(element)
      : name !== undefined ? attributeOf(element, name)
      : (named === undefined ? null : attribute(element, named)) ?? textOf(element);
    return text === null ? null : cut(text);
  };
  const isOver = () => {
    const over = left <= 0 || characters <= 0 || performance.now() > endsAt;
    if (over) partial = true;
    return over;
  };
  const found = (find, start) => {
    try {
      return find(start ?? undefined);
    } catch {
      partial = true;
      return [];
    }
  };
  const elementsFor = ({ finds }, start) => finds.length > 0 ? found(finds.at(-1), start) : [start ?? root].filter((element) => element !== null);
  const frames = new Map();
  const entered = new Map();
  const enter = (frame, rule, steps) => {
    if (!frames.has(frame) && frames.size >= limits.frames) {
      partial = true;
      return [];
    }
    if (!frames.has(frame)) frames.set(frame, frames.size);
    const key = frames.get(frame) + ' ' + rule + ' ' + steps;
    if (!entered.has(key)) {
      const isShown = limits.isShown && boxOf(frame) !== null && (!limits.isPainted || paintedFrames.has(frame));
      entered.set(key, { at: entered.size, frame: frames.get(frame), rule, steps, isShown });
    }
    return [entered.get(key).at];
  };
  const enteredBy = ({ finds, rule, done }, start) =>
    isOver() ? [] : finds.slice(0, -1).flatMap((find, at) => found(find, start).filter(isFrame).flatMap((frame) => enter(frame, rule, done + at + 1)));
  const valueOf = (rule, start) => {
    const value = ownValue(rule, start);
    return { value, entered: rule.many || value === null ? enteredBy(rule, start) : [] };
  };
  const ownValue = (rule, start) => {
    if (isOver()) return rule.many ? [] : null;
    const elements = elementsFor(rule, start);
    if (elements.length > limits.many && (rule.many || rule.rules === null)) {
      if (rule.many) partial = true;
      elements.length = limits.many;
    }
    const values = [];
    for (const element of elements) {
      if (isOver()) break;
      left -= 1;
      const value = read(rule, element);
      if (rule.many) values.push(value);
      else if (value !== null) return value;
    }
    return rule.many ? values : null;
  };
  const apply = (rules, start) => Object.fromEntries(rules.map((rule) => [rule.name, valueOf(rule, start)]));

  const language = root === null ? '' : (attribute(root, 'lang') ?? '').slice(0, 35);
  const values = apply(rules, null);
  ${ENTERED_FRAMES} = [...frames.keys()];
  return { values, entered: [...entered.values()], left: { values: left, characters }, language, partial };
}`;
