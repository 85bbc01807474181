import { page } from './dom.ts';
import { treesIn } from './open-trees.ts';
import { adopt } from './styles.ts';
import { web } from './web.ts';

/**
 * Lets no further transition begin. For a screenshot beyond the window, Chromium briefly lays the page out in a window
 * without a size. Elements whose style depends on the window's width would then be shown in the middle of a transition.
 * Transitions that are running continue.
 */
export function endTransitions(): void {
  const sheet = new web.CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { transition-duration: 0s !important; transition-delay: 0s !important }');
  for (const tree of treesIn(page)) adopt(tree, sheet);
}
