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
/** The gallery to go back to: the one that led to this view, with its filters, or else the whole one. */
export const galleryBefore = computed(() => (ledByGallery() ? place.value.from : '/'));

let entries = 0;

function readPlace() {
  const entry: string = history.state?.entry ?? location.href;
  /** The view that led to this one; empty for the first of the tab. */
  const from: string = history.state?.from ?? '';
  const path = location.pathname.slice(BASE.length).replace(/\/$/, '') || '/';
  return { entry, from, path, search: location.search };
}

function ledByGallery(): boolean {
  return /^\/(\?|$)/.test(place.value.from);
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
  if (link.dataset.back !== undefined) backToGallery();
  else goTo(link.pathname.slice(BASE.length) + link.search);
});

/** Opens a view: a path below `/ui`, with its query. */
export function goTo(to: string, { replace = false } = {}): void {
  const { entry, from, path, search } = place.value;
  if (replace) history.replaceState({ entry, from }, '', BASE + to);
  else history.pushState({ entry: `${performance.timeOrigin} ${++entries}`, from: path + search }, '', BASE + to);
  place.value = readPlace();
}

/** Opens `galleryBefore`, as it was left. */
export function backToGallery(): void {
  if (ledByGallery()) history.back();
  else goTo('/');
}

/** Address of a view, for links. */
export function hrefOf(to: string): string {
  return BASE + to;
}
