import { AROUND } from './painted.ts';

/** Elements that hold blocks. Anything else is a block of its own, or a part of a paragraph. */
const CONTAINER =
  '/^(?:div|section|article|main|body|header|footer|aside|nav|center|details|dialog|hgroup|address|fieldset)$/';
/** Number of characters that identify the beginning and the end of a block. */
const ENDS = 40;
const BLOCK = '/^(?:p|h[1-6]|ul|ol|dl|table|pre|blockquote|figure|hr)$/';
/** A table with one of these cannot be written in Markdown: Turndown would leave it as HTML. */
const NOT_IN_TABLE = 'table, h1, h2, h3, h4, h5, h6, pre, blockquote, hr';

/**
 * Runs in the page. Returns the Markdown of an element as a list of blocks `{ markdown, words, images }`: the text of
 * the block without white space, and the URLs of its images.
 */
export const WRITE_MARKDOWN = `(element, { Turndown, gfm }) => {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', emDelimiter: '*', hr: '---' });
  turndown.use(gfm.gfm);
  turndown.addRule('listItem', {
    filter: 'li',
    replacement: (content, item) => {
      const list = item.parentNode;
      const at = Number(list.getAttribute('start') ?? 1) + [...list.children].indexOf(item);
      const mark = list.localName === 'ol' ? at + '. ' : '- ';
      const text = content.trim().replace(/\\n(?=.)/g, '\\n' + ' '.repeat(mark.length));
      return mark + text + (item.nextSibling === null ? '' : '\\n');
    },
  });
  turndown.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object', 'svg', 'title']);
  const escape = turndown.escape.bind(turndown);
  turndown.escape = (text) => escape(text).replace(/</g, '\\\\<');
  for (const pre of element.querySelectorAll('pre')) {
    const about = [pre.querySelector('code'), pre, pre.parentElement, pre.parentElement.parentElement];
    const classes = about.map((each) => each?.className ?? '').join(' ');
    const language = /\\b(?:language|lang|highlight-source|highlight)-([\\w+#.-]{1,20})(?:\\s|$)/.exec(classes)?.[1];
    for (const br of pre.querySelectorAll('br')) br.replaceWith('\\n');
    const code = pre.ownerDocument.createElement('code');
    if (language !== undefined && language !== 'default') code.className = 'language-' + language;
    code.textContent = pre.textContent.replace(/^\\n+/, '').trimEnd();
    pre.replaceChildren(code);
  }
  const { ownerDocument } = element;
  const isLayout = (table) => table.querySelectorAll('tr').length < 2 || table.querySelector('${NOT_IN_TABLE}') !== null;
  const itemsOf = (list) => [...list.childNodes].flatMap((item) =>
    item.localName === 'li' ? [ownerDocument.createElement('br'), ...item.childNodes] : [item]);
  for (const table of [...element.querySelectorAll('table')]) {
    if (!isLayout(table)) {
      for (const list of [...table.querySelectorAll('ul, ol')].toReversed()) list.replaceWith(...itemsOf(list));
      continue;
    }
    const parts = [...table.querySelectorAll('caption, thead, tbody, tfoot, tr, th, td')];
    for (const part of [...parts.filter((each) => each.closest('table') === table), table]) {
      const block = ownerDocument.createElement('div');
      block.append(...part.childNodes);
      part.replaceWith(block);
    }
  }
  const blocks = [];
  const write = (...nodes) => {
    const holder = ownerDocument.createElement('div');
    holder.append(...nodes);
    const images = [...holder.querySelectorAll('img')].map((image) => image.src);
    const words = holder.textContent.replace(/\\s+/g, '');
    if (words === '' && images.length === 0) return;
    for (const linked of holder.querySelectorAll('[href], [src]')) {
      const name = linked.localName === 'a' ? 'href' : 'src';
      // Not every reader of Markdown knows parentheses in a URL.
      linked.setAttribute(name, linked[name].replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29')));
    }
    const markdown = turndown.turndown(holder).trim();
    if (markdown !== '') blocks.push({ markdown, words, images });
  };
  const walk = (container) => {
    let run = [];
    const flush = () => {
      if (run.length > 0) write(...run);
      run = [];
    };
    for (const node of [...container.childNodes]) {
      if (node.nodeType === 1 && ${CONTAINER}.test(node.localName)) {
        flush();
        walk(node);
      } else if (node.nodeType === 1 && ${BLOCK}.test(node.localName)) {
        flush();
        write(node);
      } else run.push(node);
    }
    flush();
  };
  walk(element);
  return blocks;
}`;

/**
 * Runs in the page. Returns where on the page the blocks are: `{ box, selector }` of each, in CSS pixels of the window.
 * The libraries make elements anew, so the words of a block are looked up among those that were painted, in their
 * order.
 */
export const FIND_BLOCKS = `(blocks, { items, nodes }) => {
  const { nameOf, attribute, typeOf, rootOf, parentOf, firstOf, nextOf, composedParent, ancestors } = nodes;
  const texts = items.filter(({ text, isBlank }) => text !== undefined && !isBlank);
  const images = items.filter(({ element }) => element !== undefined);
  const starts = [];
  let [painted, length] = [[], 0];
  for (const { text } of texts) {
    const words = text.replace(/\\s+/g, '');
    starts.push(length);
    painted.push(words);
    length += words.length;
  }
  painted = painted.join('');
  const indexAt = (position) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const { get: sourceOf } = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'currentSrc');
  let cursor = 0;
  const positionOf = (words, from) => {
    const ahead = painted.indexOf(words, from);
    return ahead === -1 ? painted.indexOf(words) : ahead;
  };
  const within = (words) => {
    if (words === '') return [];
    let [at, end] = [positionOf(words, cursor), 0];
    if (at !== -1) end = at + words.length;
    else if (words.length > ${ENDS}) {
      // A library has taken something out of the block: its ends are looked up.
      at = positionOf(words.slice(0, ${ENDS}), cursor);
      end = painted.indexOf(words.slice(-${ENDS}), at) + ${ENDS};
      if (end <= at || end - at > words.length * 2) return [];
    }
    if (at === -1) return [];
    cursor = end;
    return texts.slice(indexAt(at), indexAt(end - 1) + 1);
  };
  const around = ${AROUND};
  const common = (elements) => {
    let shared = ancestors(elements[0]);
    for (const each of new Set(elements.slice(0, 1000))) {
      const around = new Set(ancestors(each));
      shared = shared.filter((one) => around.has(one));
    }
    return shared[0];
  };
  /**
   * The number of an element among the siblings of its name. All siblings are counted at once: a page may have many.
   */
  const places = new WeakMap();
  const numberOf = (element) => {
    if (!places.has(element)) {
      const counts = new Map();
      const parent = parentOf(element);
      for (let each = parent === null ? element : firstOf(parent); each !== null; each = nextOf(each)) {
        if (typeOf(each) !== 1) continue;
        const name = nameOf(each);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        places.set(each, counts.get(name));
      }
    }
    return places.get(element) ?? 1;
  };
  const selectorOf = (element) => {
    const steps = [];
    for (let each = element; each !== undefined && each !== null && typeOf(each) === 1 && steps.length < 12; each = composedParent(each)) {
      const name = nameOf(each);
      const id = attribute(each, 'id');
      if (id !== null && /^[a-zA-Z][\\w-]{0,60}$/.test(id)) return ['#' + id, ...steps].join(' > ');
      steps.unshift(/^(?:html|body)$/.test(name) ? name : name + ':nth-of-type(' + numberOf(each) + ')');
    }
    return steps.join(' > ');
  };
  return blocks.map(({ words, images: sources }) => {
    const runs = within(words).slice(0, 5000);
    const shown = images.filter(({ element }) => sources.includes(sourceOf.call(element)));
    const all = [...runs, ...(runs.length === 0 || shown.length < 20 ? shown : [])];
    const boxes = all.map((item) => item.box()).filter((box) => box !== null);
    const element = all.length === 0 ? undefined : common(all.map((item) => item.parent));
    const isHere = element !== undefined && rootOf(element) === document;
    return { box: around(boxes), selector: isHere ? selectorOf(element) : null };
  });
}`;
