/**
 * JavaScript of a function that sets styles which the page's styles cannot override. It works under any policy of the
 * page, and a form's `<input name="style">` does not shadow what it calls.
 */
export const SET_STYLE = `(element, styles) => {
  const kind = [HTMLElement, SVGElement, MathMLElement].find((each) => element instanceof each);
  if (kind === undefined) return;
  const style = Reflect.get(kind.prototype, 'style', element);
  for (const [name, value] of Object.entries(styles)) style.setProperty(name, value, 'important');
}`;
