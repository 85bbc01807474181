import { attribute, childrenOf, nameOf, type PageElement, textOf } from '../dom/dom.ts';

/* Formulas of MathML without TeX, written in it: Markdown has no other way to write fractions and powers. */

/** Maximum depth of a formula, and numbers of its elements and characters. */
const MAX_DEPTH = 50;
const MAX_ELEMENTS = 2_000;
const MAX_CHARACTERS = 5_000;

const FUNCTION =
  /^(?:arc(?:sin|cos|tan)|sinh?|cosh?|tanh?|cot|sec|csc|exp|log|ln|lg|min|max|sup|inf|lim|det|dim|ker|gcd|arg|deg|Pr|hom)$/;
/** Operators whose limits are written above and below. */
const WITH_LIMITS =
  /^(?:[∏-∑∐∫-∳⋀-⋃⨀-⨄]|\\(?:min|max|sup|inf|lim|det|gcd|Pr|operatorname\{[^{}]+\}|(?:over|under)brace\{.*\}))$/s;
/** A character or a command, which needs no braces. */
const SINGLE = /^(?:\\[a-zA-Z]+|\\?.)$/su;
const SIGNS: Readonly<Record<string, string>> = {
  '\\': '\\backslash',
  '^': '\\wedge',
  '~': '\\sim',
  '−': '-',
  '′': "'",
  '″': "''",
  '‴': "'''",
};
/** Accents above one letter and above several, and their other characters. */
const ACCENTS: Accents = [
  ['^ˆ\u0302', 'hat', 'widehat'],
  ['~˜\u0303', 'tilde', 'widetilde'],
  ['¯‾ˉ_―\u0304\u0305', 'bar', 'overline'],
  ['→\u20d7', 'vec', 'overrightarrow'],
  ['˙.\u0307', 'dot', 'dot'],
  ['¨\u0308', 'ddot', 'ddot'],
  ['⏞', 'overbrace', 'overbrace'],
];
const ACCENTS_BELOW: Accents = [
  ['¯‾_―\u0332', 'underline', 'underline'],
  ['⏟', 'underbrace', 'underbrace'],
];
const VARIANTS: Readonly<Record<string, string>> = {
  normal: 'mathrm',
  bold: 'mathbf',
  'bold-italic': 'boldsymbol',
  'double-struck': 'mathbb',
  script: 'mathcal',
  fraktur: 'mathfrak',
  'sans-serif': 'mathsf',
  monospace: 'mathtt',
};
const ENCLOSED: Readonly<Record<string, string>> = {
  box: 'boxed',
  roundedbox: 'boxed',
  radical: 'sqrt',
  top: 'overline',
  bottom: 'underline',
  updiagonalstrike: 'cancel',
  downdiagonalstrike: 'cancel',
};
const [BEGIN, END] = ['\\begin{matrix}', '\\end{matrix}'];
/** Kinds of matrices, by their fences. */
const FENCED: Readonly<Record<string, string>> = {
  '()': 'pmatrix',
  '[]': 'bmatrix',
  '||': 'vmatrix',
  '‖‖': 'Vmatrix',
  '\\{': 'cases',
};

type Parts = readonly string[];

/** How elements are written, by their parts. Others are rows of theirs. */
const WRITERS: Readonly<Record<string, (parts: Parts, element: PageElement) => string>> = {
  annotation: () => '',
  'annotation-xml': () => '',
  maction: ([first = '']) => first,
  menclose: (parts, element) => {
    const command = ENCLOSED[attribute(element, 'notation') ?? ''];
    return command === undefined ? row(parts) : `\\${command}{${row(parts)}}`;
  },
  mfenced: fenced,
  mfrac: ([above = '', below = ''], element) =>
    /^0/.test(attribute(element, 'linethickness') ?? '') ? `{${above} \\atop ${below}}` : `\\frac{${above}}{${below}}`,
  mlabeledtr: ([, ...cells]) => cells.join(' & '),
  mmultiscripts: multiscripts,
  mover: ([base = '', over = ''], element) => limits(base, '', over, element),
  mphantom: () => '',
  mroot: ([base = '', index = '']) => `\\sqrt[${index}]{${base}}`,
  mspace: (_, element) => (Number.parseFloat(attribute(element, 'width') ?? '') >= 1 ? '\\quad' : ''),
  msqrt: (parts) => `\\sqrt{${row(parts)}}`,
  msub: ([base = '', sub]) => scripts(base, sub),
  msubsup: ([base = '', sub, sup]) => scripts(base, sub, sup),
  msup: ([base = '', sup]) => scripts(base, '', sup),
  mtable: (rows) => `${BEGIN}${rows.join(' \\\\ ')}${END}`,
  mtr: (cells) => cells.join(' & '),
  munder: ([base = '', under = ''], element) => limits(base, under, '', element),
  munderover: ([base = '', under = '', over = ''], element) => limits(base, under, over, element),
  semantics: ([first = '']) => first,
};

/** Returns a formula in TeX; empty when it is too large. */
export function texOfMathml(math: PageElement): string {
  let room = MAX_ELEMENTS;
  if (textOf(math).length > MAX_CHARACTERS) return '';
  const write = (element: PageElement, depth: number): string => {
    room -= depth > MAX_DEPTH ? MAX_ELEMENTS : 1;
    if (room < 0) return '';
    const name = nameOf(element);
    if (/^m(?:[ins]|o|text)$/.test(name)) return token(element, name);
    const parts = childrenOf(element).map((child) => write(child, depth + 1));
    // The name is the page's, and may be that of a member of all objects.
    const written = Object.hasOwn(WRITERS, name) ? WRITERS[name] : undefined;
    return (written ?? row)(parts, element);
  };
  const tex = write(math, 0);
  return room < 0 ? '' : tex;
}

function token(element: PageElement, name: string): string {
  // Without operators that are not drawn, such as the one between a function and its argument.
  const text = textOf(element)
    .replace(/[\u2061-\u2064\u200b]/g, '')
    .replace(/\s+/g, ' ');
  const word = text.trim();
  if (word === '') return '';
  if (name === 'mtext' || name === 'ms') return `\\text{${escaped(text)}}`;
  if (name === 'mn') return escaped(word);
  if (FUNCTION.test(word)) return `\\${word}`;
  const isWord = /\p{L}{2}/u.test(word);
  if (name === 'mo') return isWord ? `\\operatorname{${escaped(word)}}` : signs(word);
  const variant = VARIANTS[attribute(element, 'mathvariant') ?? (isWord ? 'normal' : '')];
  return variant === undefined ? signs(word) : `\\${variant}{${escaped(word)}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '').replace(/[#%&_{}]/g, '\\$&');
const signs = (text: string): string => text.replace(/[#%&_{}]|[\\^~−′″‴]/g, (sign) => SIGNS[sign] ?? `\\${sign}`);

/** Returns parts side by side. The fences of a matrix belong to it. */
function row(parts: Parts): string {
  let tex = '';
  for (let at = 0; at < parts.length; at += 1) {
    const [part = '', matrix = '', end = ''] = parts.slice(at, at + 3);
    const kind = matrix.lastIndexOf(BEGIN) === 0 && matrix.endsWith(END) ? FENCED[part + end] : undefined;
    if (kind === undefined) tex = beside(tex, part);
    else {
      tex += `\\begin{${kind}}${matrix.slice(BEGIN.length, -END.length)}\\end{${kind}}`;
      at += 2;
    }
  }
  return tex;
}

/** A letter after a command would belong to its name. */
const beside = (left: string, right: string): string =>
  /\\[a-zA-Z]+$/.test(left.slice(-40)) && /^[a-zA-Z]/.test(right) ? `${left} ${right}` : left + right;

const argument = (tex: string): string => (SINGLE.test(tex) ? tex : `{${tex}}`);

function scripts(base: string, sub = '', sup = ''): string {
  const above = sup === '' || /^'+$/.test(sup) ? sup : `^${argument(sup)}`;
  return `${WITH_LIMITS.test(base) ? base : argument(base)}${sub === '' ? '' : `_${argument(sub)}`}${above}`;
}

/** Sets marks and texts above and below a base. */
function limits(base: string, under: string, over: string, element: PageElement): string {
  if (WITH_LIMITS.test(base)) return scripts(base, under, over);
  const signs = childrenOf(element).map((child) => textOf(child).trim());
  const below = under === '' ? base : set(base, under, signs[1] ?? '', ACCENTS_BELOW, 'underset');
  return over === '' ? below : set(below, over, signs.at(-1) ?? '', ACCENTS, 'overset');
}

type Accents = readonly (readonly [signs: string, one: string, several: string])[];

function set(base: string, mark: string, sign: string, accents: Accents, otherwise: string): string {
  const [, one, several] = (sign !== '' && accents.find(([known]) => known.includes(sign))) || [];
  if (one === undefined) return `\\${otherwise}{${mark}}{${base}}`;
  return `\\${SINGLE.test(base) ? one : several}{${base}}`;
}

/** Scripts before and after a base, in pairs. */
function multiscripts([base = '', ...others]: Parts, element: PageElement): string {
  const at = childrenOf(element).findIndex((child) => nameOf(child) === 'mprescripts') - 1;
  const [after, before] = at < 0 ? [others, []] : [others.slice(0, at), others.slice(at + 1)];
  const joined = (pairs: Parts, odd: number) => row(pairs.filter((_, place) => place % 2 === odd));
  const isBefore = before.some((part) => part !== '');
  const first = isBefore ? scripts('', joined(before, 0), joined(before, 1)) : '';
  return first + scripts(base, joined(after, 0), joined(after, 1));
}

function fenced(parts: Parts, element: PageElement): string {
  const separators = attribute(element, 'separators')?.replace(/\s/g, '') ?? ',';
  const between = (at: number) => (at === 0 ? '' : (separators[at - 1] ?? separators.at(-1) ?? ''));
  const inner = row(parts.flatMap((part, at) => [signs(between(at)), part]).slice(1));
  return row([signs(attribute(element, 'open') ?? '('), inner, signs(attribute(element, 'close') ?? ')')]);
}
