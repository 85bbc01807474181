import { hide, unstick } from './changes/hide.ts';
import { positioned } from './positioned.ts';

/** Hides fixed elements, and puts sticky ones where they are at the top of the page. */
export function unfix(): void {
  for (const element of positioned('fixed')) hide(element);
  for (const element of positioned('sticky')) unstick(element);
}
