import { HTML, memberOf, namespaceOf, type PageElement, type PageNode, type PageRoot, treeMember } from './dom.ts';

/** The style that an element has of its own. */
interface StyleDeclaration {
  cssText: string;
  setProperty(name: string, value: string, priority?: 'important'): void;
}

export interface StyleSheet {
  readonly ownerNode: PageNode | null;
  readonly href: string | null;
  readonly disabled: boolean;
  readonly media: { readonly mediaText: string };
  /** @throws for the style sheet of another origin */
  readonly cssRules: Iterable<StyleRule>;
  replaceSync(text: string): void;
}

export interface StyleRule {
  readonly cssText: string;
}

export interface PageRule extends StyleRule {
  readonly style: { removeProperty(name: string): void };
}

/** A rule with rules in it, such as those of `@media` and `@layer`. */
export interface GroupingRule extends StyleRule {
  readonly cssRules: Iterable<StyleRule>;
}

const STYLED = /* @__PURE__ */ new Map<string | null, string>([
  [HTML, 'HTMLElement'],
  ['http://www.w3.org/2000/svg', 'SVGElement'],
  ['http://www.w3.org/1998/Math/MathML', 'MathMLElement'],
]);

/** The style that an element has of its own; undefined for elements that can have none. */
export const styleOf = (element: PageElement): StyleDeclaration | undefined => {
  const owner = STYLED.get(namespaceOf(element));
  return owner === undefined ? undefined : (memberOf(owner, 'style').get.call(element) as StyleDeclaration);
};

export const sheetsOf = (root: PageRoot): StyleSheet[] =>
  Array.from(treeMember(root, 'styleSheets').get.call(root) as Iterable<StyleSheet>);

/** The style sheets that scripts have added to a document or a shadow tree. */
export const adoptedSheetsOf = (root: PageRoot): StyleSheet[] => [
  ...(adoptedBy(root).get.call(root) as Iterable<StyleSheet>),
];

export const adoptSheets = (root: PageRoot, sheets: readonly StyleSheet[]): void =>
  adoptedBy(root).set.call(root, [...sheets]);

/** Adds a style sheet to those of a document or a shadow tree. */
export const adopt = (root: PageRoot, sheet: StyleSheet): void => adoptSheets(root, [...adoptedSheetsOf(root), sheet]);

const adoptedBy = (root: PageRoot) => treeMember(root, 'adoptedStyleSheets');
