import type { PageElement } from './dom.ts';
import { styleOf } from './styles.ts';

/** Sets styles that the page's styles cannot override. It works under any policy of the page. */
export function setStyle(element: PageElement, styles: Readonly<Record<string, string>>): void {
  const style = styleOf(element);
  if (style === undefined) return;
  for (const [name, value] of Object.entries(styles)) style.setProperty(name, value, 'important');
}
