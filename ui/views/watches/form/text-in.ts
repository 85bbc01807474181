import type { PageElement } from '../../../parts/captured-page.ts';

const MAX_CHARACTERS = 80;

/** Returns the text of an element and of what is in it, as far as the element map has it. */
export function textIn(element: PageElement): string {
  const parts: string[] = [];
  let length = 0;
  const collect = ({ texts, children }: PageElement) => {
    for (const { text } of texts) {
      parts.push(text.trim());
      length += text.length;
    }
    for (const child of children) if (length < MAX_CHARACTERS) collect(child);
  };
  collect(element);
  return parts
    .filter((part) => part !== '')
    .join(' ')
    .slice(0, MAX_CHARACTERS);
}
