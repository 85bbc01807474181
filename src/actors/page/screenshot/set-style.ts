/**
 * JavaScript: a function that gives an element styles that nothing of the page's overrides. The page's own policy has
 * no say in it, and a `<input name="style">` of a form does not hide what is called.
 */
export const SET_STYLE = `(element, styles) => {
  const kind = [HTMLElement, SVGElement, MathMLElement].find((each) => element instanceof each);
  if (kind === undefined) return;
  const style = Reflect.get(kind.prototype, 'style', element);
  for (const [name, value] of Object.entries(styles)) style.setProperty(name, value, 'important');
}`;
