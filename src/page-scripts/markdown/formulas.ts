import { folded } from '../../words/folded.ts';
import { attribute, type PageElement, removeAttribute, select, selectOne, setAttribute, textOf } from '../dom.ts';
import { isCommand } from './tex-commands.ts';

/*
 * Formulas say in TeX what they show (KaTeX, MathML). The TeX is in an element that nobody sees, so a page could hide a
 * message there: it is taken when all of its letters and digits are painted, and its commands are those of formulas.
 */

const TEX = 'data-tex';
const MAX_CHARACTERS = 5_000;
const ANNOTATION = 'annotation[encoding="application/x-tex"]';
/** Commands, and environments with their names. */
const COMMANDS = /\\(?:begin|end)\s*\{([a-zA-Z]+)\*?\}|\\([a-zA-Z]+)/g;

/** Notes the TeX of a formula on its copy. */
export function noteFormula(element: PageElement, isDisplayed: boolean, copy: PageElement): void {
  const annotation = selectOne(element, ANNOTATION);
  const tex = annotation === null ? '' : textOf(annotation).replace(/\s+/g, ' ').trim();
  if (tex === '' || tex.length > MAX_CHARACTERS || tex.includes('$')) return;
  setAttribute(copy, TEX, isDisplayed ? `$$${tex}$$` : `$${tex}$`);
}

/** Takes the TeX from copies of formulas that do not show it. */
export function checkFormulas(root: PageElement): void {
  for (const copy of select(root, `[${TEX}]`)) if (!shows(textOf(copy), texOf(copy) ?? '')) removeAttribute(copy, TEX);
}

/** Returns the TeX of the copy of a formula as Markdown; null for other elements. */
export function texOf(copy: PageElement): string | null {
  // Markdown would read these signs as HTML.
  return attribute(copy, TEX)?.replaceAll('<', '\\lt ').replaceAll('>', '\\gt ') ?? null;
}

function shows(painted: string, tex: string): boolean {
  const commands = [...tex.matchAll(COMMANDS)].map(([, environment, command]) => environment ?? command ?? '');
  if (!commands.every(isCommand)) return false;
  const left = new Map<string, number>();
  for (const letter of folded(painted)) left.set(letter, (left.get(letter) ?? 0) + 1);
  for (const letter of folded(tex.replace(COMMANDS, '')).match(/[\p{L}\p{N}]/gu) ?? []) {
    const count = left.get(letter) ?? 0;
    if (count === 0) return false;
    left.set(letter, count - 1);
  }
  return true;
}
