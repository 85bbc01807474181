/*
 * Changes a page in one way, for the bench of comparisons. Everything here runs in the page.
 */

export const MUTATIONS = ['banner', 'remove', 'move', 'recolour', 'word', 'swap'] as const;
export type Mutation = (typeof MUTATIONS)[number];

/**
 * Chooses what to change, marks it with `data-bench`, and returns the HTML before and after; null when the page has
 * nothing of the kind. `seed`: chooses one of several.
 */
export const MUTATE = `(kind, seed) => {
  let state = seed * 2654435761 % 4294967296;
  const random = (below) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * below);
  };
  const styleOf = (element) => getComputedStyle(element);
  const boxOf = (element) => element.getBoundingClientRect();
  const isPlain = (element) => {
    for (let each = element; each !== document.documentElement; each = each.parentElement) {
      if (/fixed|sticky|absolute/.test(styleOf(each).position)) return false;
    }
    return true;
  };
  const isOnTop = (element) => {
    element.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { left, top, width, height } = boxOf(element);
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    return found !== null && (element.contains(found) || found.contains(element));
  };
  const isShown = (element) => {
    const { width, height, left, right } = boxOf(element);
    return width >= 150 && height >= 16 && left >= 0 && right <= innerWidth && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const isBlock = (element) => {
    const { display, float } = styleOf(element);
    return /^(?:block|flex|grid|list-item|flow-root)$/.test(display) && float === 'none' && isShown(element) &&
      boxOf(element).height <= 500 && element.innerText.trim().length >= 20 && isPlain(element);
  };
  const siblingsOf = (element) => [...element.parentElement.children].filter((each) => {
    const { width, height } = boxOf(each);
    return width > 0 && height > 0 && styleOf(each).float === 'none' && /static|relative/.test(styleOf(each).position);
  });
  const isStack = (elements) => elements.every((each, at) => at === 0 || boxOf(each).top >= boxOf(elements[at - 1]).bottom - 1);
  const all = [...document.body.querySelectorAll('*')];
  const pick = (candidates) => {
    const left = [...candidates];
    for (let tries = 0; tries < 60 && left.length > 0; tries += 1) {
      const [found] = left.splice(random(left.length), 1);
      if (isOnTop(found)) return found;
    }
    return undefined;
  };
  const mark = (element, name) => element.setAttribute('data-bench', name);
  const html = () => {
    const root = document.documentElement.cloneNode(true);
    for (const script of root.querySelectorAll('script, noscript')) script.remove();
    root.querySelector('head base')?.remove();
    const base = document.createElement('base');
    base.href = document.baseURI;
    const charset = document.createElement('meta');
    charset.setAttribute('charset', 'utf-8');
    root.querySelector('head').prepend(charset, base);
    return '<!doctype html>\\n' + root.outerHTML;
  };
  for (const script of document.querySelectorAll('script, noscript, iframe, video, object, embed')) script.remove();
  // Images that are not there are drawn as broken sooner or later.
  const grey = 'data:image/svg+xml,' + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="#9ab"/></svg>');
  for (const source of document.querySelectorAll('source')) source.remove();
  for (const image of document.querySelectorAll('img')) {
    if (image.naturalWidth > 0 && !/^https?:\\/\\/(?!127\\.)/.test(image.src)) continue;
    for (const name of ['srcset', 'loading', 'sizes']) image.removeAttribute(name);
    image.src = grey;
  }
  const makers = {
    banner: () => {
      const at = random(2) === 0 ? document.body.firstElementChild : pick(all.filter(isBlock));
      if (!at) return null;
      const banner = document.createElement('div');
      banner.textContent = 'Maintenance tonight from ten to eleven: some pages cannot be reached.';
      banner.style.cssText = 'background:#124;color:#fff;padding:12px;font:16px/20px sans-serif;margin:0;clear:both';
      return () => {
        at.before(banner);
        mark(banner, 'target');
      };
    },
    remove: () => {
      const block = pick(all.filter((each) => isBlock(each) && siblingsOf(each).length >= 2));
      if (!block) return null;
      mark(block, 'target');
      return () => block.remove();
    },
    move: () => {
      const block = pick(all.filter((each) => isBlock(each) && siblingsOf(each).length >= 3 && isStack(siblingsOf(each))));
      if (!block) return null;
      const siblings = siblingsOf(block);
      const at = siblings.indexOf(block);
      const places = siblings.map((_, place) => place).filter((place) => Math.abs(place - at) >= (siblings.length > 3 ? 2 : 1) && Math.abs(place - at) <= 6);
      if (places.length === 0) return null;
      const place = places[random(places.length)];
      mark(block, 'target');
      const passed = place > at ? siblings.slice(at + 1, place + 1) : siblings.slice(place, at);
      if (passed.length === 1) mark(passed[0], 'other');
      return () => place > at ? siblings[place].after(block) : siblings[place].before(block);
    },
    recolour: () => {
      const block = pick(all.filter(isBlock));
      if (!block) return null;
      mark(block, 'target');
      return () => {
        block.style.setProperty('background', '#fd9', 'important');
        block.style.setProperty('color', '#610', 'important');
      };
    },
    word: () => {
      const isText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && /[a-z]{4}/i.test(node.data));
      const element = pick(all.filter((each) => isText(each) && isShown(each) && isPlain(each) && !/^(?:script|style|option|textarea)$/.test(each.localName)));
      if (!element) return null;
      const nodes = [...element.childNodes].filter((node) => node.nodeType === 3 && /[a-z]{4}/i.test(node.data));
      const node = nodes[random(nodes.length)];
      const words = [...node.data.matchAll(/[a-z]{4,}/gi)].filter(([word]) => [...word].reverse().join('') !== word);
      if (words.length === 0) return null;
      const word = words[random(words.length)];
      mark(element, 'target');
      return () => {
        node.data = node.data.slice(0, word.index) + [...word[0]].reverse().join('') + node.data.slice(word.index + word[0].length);
      };
    },
    swap: () => {
      const lists = all.filter((each) => /^[uo]l$/.test(each.localName) && isPlain(each) && isStack(siblingsOf(each.firstElementChild ?? each)));
      const itemsOf = (list) => [...list.children].filter((each) => each.localName === 'li' && isShown(each) && boxOf(each).height <= 400 && each.innerText.trim().length >= 5);
      const good = lists.filter((list) => new Set(itemsOf(list).map((each) => each.innerText)).size >= 3);
      const item = pick(good.flatMap((list) => itemsOf(list)));
      if (!item) return null;
      const items = itemsOf(item.parentElement);
      const others = items.filter((each) => each !== item && each.innerText !== item.innerText);
      const other = others[random(others.length)];
      const [one, two] = item.compareDocumentPosition(other) & 4 ? [item, other] : [other, item];
      mark(one, 'target');
      mark(two, one.nextElementSibling === two ? 'other' : 'target');
      return () => {
        const place = document.createComment('');
        one.replaceWith(place);
        two.replaceWith(one);
        place.replaceWith(two);
      };
    },
  };
  const change = makers[kind]();
  if (change === null) return null;
  const before = html();
  change();
  return { before, after: html() };
}`;

/** Returns the places of the marked elements on the whole page, in pixels. */
export const MARKED = `[...document.querySelectorAll('[data-bench]')].map((element) => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const [x, y] = [Math.round(left + scrollX), Math.round(top + scrollY)];
  return {
    name: element.getAttribute('data-bench'),
    text: element.innerText.slice(0, 100),
    box: { x, y, width: Math.round(right + scrollX) - x, height: Math.round(bottom + scrollY) - y },
  };
})`;
