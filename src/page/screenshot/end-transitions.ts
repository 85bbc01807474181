/**
 * JavaScript of a function that lets no further transition begin. For a screenshot beyond the window, Chromium briefly
 * lays the page out in a window without a size. Elements whose style depends on the window's width would then be shown
 * in the middle of a transition. Transitions that are running continue.
 */
export const END_TRANSITIONS = `() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { transition-duration: 0s !important; transition-delay: 0s !important }');
  const roots = [[document, Document]];
  for (const [root, kind] of roots) {
    const sheets = Reflect.get(kind.prototype, 'adoptedStyleSheets', root);
    Reflect.set(kind.prototype, 'adoptedStyleSheets', [...sheets, sheet], root);
    for (const element of kind.prototype.querySelectorAll.call(root, '*')) {
      const shadow = Reflect.get(Element.prototype, 'shadowRoot', element);
      if (shadow) roots.push([shadow, ShadowRoot]);
    }
  }
}`;
