import { createHash } from 'node:crypto';

/*
 * The filter of a page of a scan: a field for words, a list of statuses, and the number of items that are shown.
 * Without scripts, the page shows all items and no filter. An item is an element with `data-status`; one with captures
 * that look alike has them in its `details`.
 */

export const FILTER = `<p class="filter" hidden><input type="search" placeholder="Filter" aria-label="Filter by words">
<select aria-label="Status"></select> <output></output></p>`;

const SCRIPT = `
const bar = document.querySelector('.filter');
const [words, status, count] = bar.children;
const items = [...document.querySelectorAll('[data-status]')].map((element) => {
  const alike = element.querySelector(':scope > details');
  const own = [...element.children].filter((child) => child !== alike);
  const text = own.map((child) => child.textContent).join(' ').toLowerCase();
  return { element, alike, text, leader: element.parentElement.closest('[data-status]') };
});
const lists = Map.groupBy(items, ({ element }) => element.parentElement);
const counts = new Map();
for (const { element } of items) counts.set(element.dataset.status, (counts.get(element.dataset.status) ?? 0) + 1);
status.append(new Option('all', ''), ...[...counts].sort().map(([name, n]) => new Option(name + ' (' + n + ')', name)));
const show = () => {
  const wanted = words.value.toLowerCase().split(/\\s+/);
  const isFound = ({ element, text }) =>
    (status.value === '' || element.dataset.status === status.value) && wanted.every((word) => text.includes(word));
  const matching = items.filter(isFound);
  const found = new Set(matching.map(({ element }) => element));
  const leaders = new Set(matching.map(({ leader }) => leader));
  for (const { element, alike } of items) if (alike) alike.open = !found.has(element) && leaders.has(element);
  for (const [list, all] of lists) {
    const shown = all.map(({ element }) => element).filter((element) => found.has(element) || leaders.has(element));
    const isSame = shown.length === list.childElementCount && shown.every((each, at) => each === list.children[at]);
    // Hiding elements would take the browser ten times as long as taking them out.
    if (!isSame) list.replaceChildren(...shown);
  }
  count.textContent = found.size + ' of ' + items.length;
};
bar.addEventListener('input', show);
bar.hidden = false;
show();
`;

export const FILTER_SCRIPT = `<script>${SCRIPT}</script>`;

/** Value of `script-src` that permits this script and no other. */
export const FILTER_SOURCE = `'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`;
