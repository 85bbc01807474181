import type { Locator } from 'playwright';
import { foldedPattern } from '../../words/folded.ts';
import type { Patience } from './step.ts';

/** Chooses the option of a select that has a value or, as people read it, a text. */
export async function chooseOption(field: Locator, value: string, patience: Patience): Promise<void> {
  const options = field.locator('css=option');
  const named = options.filter({ hasText: foldedPattern(value) });
  const isText = (await named.count()) > 0 && (await field.locator(`css=option[value=${quoted(value)}]`).count()) === 0;
  await field.selectOption(isText ? await named.first().elementHandle(patience) : value, patience);
}

/** Returns the text as a CSS string. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[\n\r\f]/g, (char) => `\\${char.charCodeAt(0).toString(16)} `)}"`;
}
