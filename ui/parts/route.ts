import { computed, signal } from '@preact/signals';
import { addressOf } from '../api/address.ts';

/*
 * The address of the current view: a path below /ui and a query. Links are ordinary anchors, so
 * that they can be opened in a new tab.
 */

const BASE = addressOf('/ui');

const place = signal(readPlace());
/** Path below `/ui`, such as `/results/1`. */
export const path = computed(() => place.value.path);
export const query = computed(() => new URLSearchParams(place.value.search));
/** Names the entry of the tab's history that is shown. */
export const entry = computed(() => place.value.entry);

let entries = 0;

function readPlace() {
  const entry: string = history.state?.entry ?? location.href;
  return { entry, path: location.pathname.slice(BASE.length).replace(/\/$/, '') || '/', search: location.search };
}

window.addEventListener('popstate', () => {
  place.value = readPlace();
});

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target !== '' || link.origin !== location.origin || !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  goTo(link.pathname.slice(BASE.length) + link.search);
});

/** Opens a view: a path below `/ui`, with its query. */
export function goTo(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState({ entry: entry.value }, '', BASE + to);
  else history.pushState({ entry: `${performance.timeOrigin} ${++entries}` }, '', BASE + to);
  place.value = readPlace();
}

/** Address of a view, for links. */
export function hrefOf(to: string): string {
  return BASE + to;
}
