import { folded } from '../../words/folded.ts';
import type { Rectangle } from '../boxes/boxes.ts';
import {
  attribute,
  classOf,
  documentOf,
  elementById,
  idOf,
  matches,
  nameOf,
  type PageElement,
  parentElementOf,
  removeAttribute,
  select,
  selectOne,
  setAttribute,
  textOf,
} from '../dom/dom.ts';
import { BACKSLASH } from './escape-lines.ts';
import { texOfMathml } from './mathml.ts';
import { isCommand } from './tex-commands.ts';

/*
 * The TeX of a formula comes from its source (KaTeX, MathML, MathJax), or is generated from its MathML. A source is in an
 * element that nobody sees, so a page could hide a message there: it is taken when all of its letters and digits are painted,
 * and its commands are those of formulas. Of a formula that is drawn as an image or as shapes, it is taken when it has
 * no words and is not larger than that.
 */

const TEX = 'data-tex';
const MAX_CHARACTERS = 5_000;
const ANNOTATION = 'annotation[encoding="application/x-tex"]';
/** Classes of images of formulas. */
const OF_FORMULA = /(?:^|[\s_-])(?:la)?tex(?:$|[\s_-])/;
/** Letters that may be a word and no product of variables. */
const WORD = /\p{L}{4}/u;
/** Minimum area that the image of a formula has for each letter and digit, in CSS pixels. */
const MIN_LETTER_AREA = 30;
/** Commands, and environments with their names. */
const COMMANDS = /\\(?:begin|end)\s*\{([a-zA-Z]+)\*?\}|\\([a-zA-Z]+)/g;

/** Notes the TeX of a formula of MathML, KaTeX or MathJax 2 on its copy. */
export function noteFormula(element: PageElement, copy: PageElement): void {
  const source = selectOne(element, ANNOTATION) ?? scriptOf(element);
  const written = source === null ? '' : tidied(textOf(source));
  const tex = written !== '' && hasKnownCommands(written) ? written : fromMathml(element);
  const isDisplayed = matches(element, 'math[display=block], :is(.katex-display, .MathJax_Display, .MJXc-display) *');
  note(tex, isDisplayed, copy);
}

function fromMathml(element: PageElement): string {
  const math = nameOf(element) === 'math' ? element : selectOne(element, 'math');
  return math === null ? '' : tidied(texOfMathml(math));
}

/** Returns the script that MathJax 2 has drawn. */
function scriptOf(element: PageElement): PageElement | null {
  const [, id = ''] = /^(MathJax-Element-\d+)-Frame$/.exec(idOf(element)) ?? [];
  const script = elementById(documentOf(element), id);
  return script !== null && matches(script, 'script[type^="math/tex"]') ? script : null;
}

/** Notes the TeX of a formula that is drawn as an image, or by MathJax 2 as SVG, on a copy of the image. */
export function noteDrawnFormula(image: PageElement, { width, height }: Rectangle, copy: PageElement): void {
  if (nameOf(image) === 'mjx-container') {
    const tex = ofShapes(image);
    if (fits(tex, width * height)) note(tex, attribute(image, 'display') === 'true', copy);
    return;
  }
  const script = scriptOf(image);
  const source = script === null ? (attribute(image, 'alt') ?? '') : textOf(script);
  const written = tidied(source).replace(/^(\$\$?)(.*)\1$/, '$2');
  const around = parentElementOf(image);
  const annotation = around && selectOne(around, ANNOTATION);
  const isImage = annotation === null ? OF_FORMULA.test(classOf(image)) : written === tidied(textOf(annotation));
  if (script === null && !isImage) return;
  if (!fits(written, width * height)) return;
  const isDisplayed =
    script === null
      ? around !== null && selectOne(around, 'math[display=block]') !== null
      : matches(image, '.MathJax_SVG_Display *');
  note(written, isDisplayed, copy);
}

/** Returns the TeX that MathJax has drawn as shapes, since version 3; empty where it has drawn text. */
function ofShapes(container: PageElement): string {
  const hidden = selectOne(container, 'mjx-assistive-mml');
  if (textOf(container).trim() !== (hidden === null ? '' : textOf(hidden).trim())) return '';
  const source = selectOne(container, '[data-latex]');
  return source === null ? fromMathml(container) : tidied(attribute(source, 'data-latex') ?? '');
}

const fits = (tex: string, area: number): boolean =>
  isWithoutWords(tex) && lettersOf(tex).length * MIN_LETTER_AREA <= area;

function note(tex: string, isDisplayed: boolean, copy: PageElement): void {
  if (tex === '' || tex.length > MAX_CHARACTERS || tex.includes('$')) return;
  setAttribute(copy, TEX, isDisplayed ? `$$${tex}$$` : `$${tex}$`);
}

/** Returns TeX in one line, without braces around all of it that only say how large it is. */
function tidied(tex: string): string {
  const line = tex.replaceAll(BACKSLASH, '').replace(/\s+/g, ' ').trim();
  const inner = /^\{\\(?:display|text)style (.*)\}$/.exec(line)?.[1];
  return inner !== undefined && isBalanced(inner) ? inner.trim() : line;
}

function isBalanced(tex: string): boolean {
  let depth = 0;
  for (const [brace] of tex.replace(/\\./g, '').matchAll(/[{}]/g)) {
    depth += brace === '{' ? 1 : -1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** Takes the TeX from copies of formulas that do not show it. */
export function checkFormulas(root: PageElement): void {
  for (const copy of select(root, `[${TEX}]:not(img)`))
    if (!shows(textOf(copy), texOf(copy) ?? '')) removeAttribute(copy, TEX);
}

/** Returns the TeX of the copy of a formula as Markdown; null for other elements. */
export function texOf(copy: PageElement): string | null {
  // Markdown would read these signs as HTML.
  return attribute(copy, TEX)?.replaceAll('<', '\\lt ').replaceAll('>', '\\gt ') ?? null;
}

function shows(painted: string, tex: string): boolean {
  if (!hasKnownCommands(tex)) return false;
  const left = new Map<string, number>();
  for (const letter of folded(painted)) left.set(letter, (left.get(letter) ?? 0) + 1);
  for (const letter of lettersOf(tex)) {
    const count = left.get(letter) ?? 0;
    if (count === 0) return false;
    left.set(letter, count - 1);
  }
  return true;
}

function hasKnownCommands(tex: string): boolean {
  const commands = [...tex.matchAll(COMMANDS)].map(([, environment, command]) => environment ?? command ?? '');
  return commands.every(isCommand);
}

const isWithoutWords = (tex: string): boolean => hasKnownCommands(tex) && !WORD.test(tex.replace(COMMANDS, ' '));

const lettersOf = (tex: string): readonly string[] => folded(tex.replace(COMMANDS, '')).match(/[\p{L}\p{N}]/gu) ?? [];
