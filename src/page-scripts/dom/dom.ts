/*
 * The nodes of a page, and the only functions that read them.
 *
 * A page can hide any member of a form or of the document behind an element of that name: after
 * `<form><input name="matches">`, `form.matches` is the input. So nodes have opaque types without members, which makes
 * `form.matches` a compile error, and each function below takes its member from the prototype, where no element can
 * hide it. Scripts run in isolated worlds, whose prototypes the page's scripts cannot change.
 */

declare const brand: unique symbol;

/** Any node. */
export interface PageNode {
  readonly [brand]: { readonly node: true };
}
export interface PageElement extends PageNode {
  readonly [brand]: { readonly node: true; readonly element: true };
}
export interface PageText extends PageNode {
  readonly [brand]: { readonly node: true; readonly text: true };
}
export interface PageDocument extends PageNode {
  readonly [brand]: { readonly node: true; readonly document: true };
}
/** A shadow root, or the content of a template. */
export interface PageFragment extends PageNode {
  readonly [brand]: { readonly node: true; readonly fragment: true };
}
export type PageRoot = PageDocument | PageFragment;
/** A node in which selectors find elements. */
export type PageParent = PageElement | PageRoot;

/** A rectangle in the window of its document, in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Rectangles, each of which is made when it is asked for. */
export type BoxList = Iterable<Box> & { readonly length: number };

/** A range of a document. */
export interface Range {
  selectNodeContents(node: PageNode): void;
  setStart(node: PageNode, offset: number): void;
  setEnd(node: PageNode, offset: number): void;
  getBoundingClientRect(): Box;
  getClientRects(): BoxList;
}

/** A walk through the nodes of a tree. */
interface Walker<Of extends PageNode> {
  readonly currentNode: Of;
  nextNode(): Of | null;
}

export interface Animation {
  readonly playState: 'idle' | 'running' | 'paused' | 'finished';
  readonly timeline: object | null;
  readonly effect: AnimationEffect | null;
  readonly playbackRate: number;
  currentTime: number | null;
  cancel(): void;
  finish(): void;
  pause(): void;
}

interface AnimationEffect {
  readonly target: PageElement | null;
  readonly pseudoElement: string | null;
  getKeyframes(): readonly object[];
  getComputedTiming(): { readonly endTime: number };
}

type Method = (...given: unknown[]) => unknown;
type Member = { get(): unknown; set(value: unknown): void; value: Method };

/** A member of an interface, as its prototype has it. */
export const memberOf = (owner: string, member: string): Member => {
  const { prototype } = Reflect.get(globalThis, owner) as { prototype: object };
  return Object.getOwnPropertyDescriptor(prototype, member) as unknown as Member;
};

/* @__NO_SIDE_EFFECTS__ */
export function reader<Of, Value>(owner: string, member: string): (of: Of) => Value {
  const { get } = memberOf(owner, member);
  return (of) => get.call(of) as Value;
}

/** Like `reader`, for a collection: its elements as an array, which they cannot hide members of either. */
/* @__NO_SIDE_EFFECTS__ */
function lister<Of, Item>(owner: string, member: string): (of: Of) => Item[] {
  const { get } = memberOf(owner, member);
  return (of) => Array.from(get.call(of) as Iterable<Item>);
}

/* @__NO_SIDE_EFFECTS__ */
export function writer<Of, Value>(owner: string, member: string): (of: Of, value: Value) => void {
  const { set } = memberOf(owner, member);
  return (of, value) => set.call(of, value);
}

/* @__NO_SIDE_EFFECTS__ */
export function caller<Of, Given extends readonly unknown[], Value>(
  owner: string,
  member: string,
): (of: Of, ...given: Given) => Value {
  const { value } = memberOf(owner, member);
  return (of, ...given) => value.call(of, ...given) as Value;
}

/** The document of this world. */
export const page = /* @__PURE__ */ Reflect.get(globalThis, 'document') as PageDocument;

// Kinds of nodes. Not by `instanceof`: a node may come from another document, which has prototypes of its own.
export const typeOf = reader<PageNode, number>('Node', 'nodeType');
export const isElement = (node: unknown): node is PageElement => isNode(node) && typeOf(node) === 1;
export const isText = (node: PageNode): node is PageText => typeOf(node) === 3;
export const isDocument = (node: PageNode): node is PageDocument => typeOf(node) === 9;
export const isShadowRoot = (node: PageNode): node is PageFragment => interfaceOf(node) === 'ShadowRoot';
const isNode = (node: unknown): node is PageNode => node !== null && typeof node === 'object';
/** The name of a node's interface, such as `HTMLInputElement`. */
export const interfaceOf = (node: PageNode): string => String(Reflect.get(node, Symbol.toStringTag));

// Neighbours of a node.
export const parentOf = reader<PageNode, PageNode | null>('Node', 'parentNode');
export const parentElementOf = reader<PageNode, PageElement | null>('Node', 'parentElement');
export const firstOf = reader<PageNode, PageNode | null>('Node', 'firstChild');
export const nextOf = reader<PageNode, PageNode | null>('Node', 'nextSibling');
export const previousOf = reader<PageNode, PageNode | null>('Node', 'previousSibling');
export const nodesOf = lister<PageNode, PageNode>('Node', 'childNodes');
export const firstElementOf = reader<PageElement, PageElement | null>('Element', 'firstElementChild');
export const childrenOf = lister<PageElement, PageElement>('Element', 'children');
export const previousElementOf = reader<PageElement, PageElement | null>('Element', 'previousElementSibling');
export const documentOf = reader<PageNode, PageDocument>('Node', 'ownerDocument');
/** The document or shadow tree of an element, or the topmost element of a tree that is in neither. */
export const rootOf = caller<PageElement, [], PageParent>('Node', 'getRootNode');
export const contains = caller<PageNode, [PageNode | null], boolean>('Node', 'contains');
export const positionOf = caller<PageNode, [PageNode], number>('Node', 'compareDocumentPosition');
export const isConnected = reader<PageNode, boolean>('Node', 'isConnected');

// Shadow trees, slots, templates and frames.
export const shadowOf = reader<PageElement, PageFragment | null>('Element', 'shadowRoot');
export const hostOf = reader<PageFragment, PageElement>('ShadowRoot', 'host');
export const slotOf = reader<PageElement, PageElement | null>('Element', 'assignedSlot');
export const textSlotOf = reader<PageText, PageElement | null>('Text', 'assignedSlot');
export const assigned = caller<PageElement, [options?: { flatten: boolean }], PageNode[]>(
  'HTMLSlotElement',
  'assignedNodes',
);
export const templated = reader<PageElement, PageFragment>('HTMLTemplateElement', 'content');
export const framed = reader<PageElement, PageDocument | null>('HTMLIFrameElement', 'contentDocument');
export const isFrame = (node: PageNode): node is PageElement =>
  ['HTMLIFrameElement', 'HTMLFrameElement'].includes(interfaceOf(node));
/** The element's parent; of an element directly in a shadow root, its host. */
export const above = (node: PageNode): PageElement | null => {
  const parent = parentOf(node);
  if (parent === null) return null;
  if (isShadowRoot(parent)) return hostOf(parent);
  return isElement(parent) ? parent : null;
};
/** The element in which an element is drawn: its slot, its parent, or the host of its shadow tree. */
export const around = (element: PageElement): PageElement | null =>
  slotOf(element) ?? parentElementOf(element) ?? above(element);

// Content and attributes.
export const textOf = reader<PageNode, string>('Node', 'textContent');
/** The text of an element of HTML as it is drawn. */
export const drawnTextOf = reader<PageElement, string>('HTMLElement', 'innerText');
export const dataOf = reader<PageText, string>('CharacterData', 'data');
export const tagOf = reader<PageElement, string>('Element', 'tagName');
export const innerHtmlOf = reader<PageElement, string>('Element', 'innerHTML');
export const nameOf = reader<PageElement, string>('Element', 'localName');
export const namespaceOf = reader<PageElement, string | null>('Element', 'namespaceURI');
export const HTML = 'http://www.w3.org/1999/xhtml';
export const isHtml = (element: PageElement): boolean => namespaceOf(element) === HTML;
export const htmlOf = reader<PageElement, string>('Element', 'outerHTML');
/** The HTML in an element, with the given shadow trees as declarative ones. */
export const htmlWithin = caller<PageElement, [{ readonly shadowRoots: readonly PageFragment[] }], string>(
  'Element',
  'getHTML',
);
export const idOf = reader<PageElement, string>('Element', 'id');
export const baseOf = reader<PageNode, string>('Node', 'baseURI');
export const attribute = caller<PageElement, [name: string], string | null>('Element', 'getAttribute');
export const attributeNamesOf = caller<PageElement, [], string[]>('Element', 'getAttributeNames');
/** The value of the `class` attribute, also of elements of SVG, whose `className` is no string. */
export const classOf = (element: PageElement): string => attribute(element, 'class') ?? '';

// Selectors.
const SELECTING = { 1: 'Element', 9: 'Document', 11: 'DocumentFragment' } as const;
const selecting = (root: PageParent, member: string) =>
  memberOf(SELECTING[typeOf(root) as keyof typeof SELECTING], member).value;
/** Returns the elements below `root` that match, without entering shadow trees. @throws for an invalid selector */
export const select = (root: PageParent, css: string): PageElement[] =>
  Array.from(selecting(root, 'querySelectorAll').call(root, css) as Iterable<PageElement>);
export const selectOne = (root: PageParent, css: string): PageElement | null =>
  selecting(root, 'querySelector').call(root, css) as PageElement | null;
export const elementById = caller<PageDocument, [id: string], PageElement | null>('Document', 'getElementById');
export const matches = caller<PageElement, [css: string], boolean>('Element', 'matches');
export const closest = caller<PageElement, [css: string], PageElement | null>('Element', 'closest');

/** Returns the nodes that an XPath expression finds from `root`, in document order. @throws for an invalid one */
export const byXPath = (xpath: string, root: PageNode): PageNode[] => {
  const ordered = 7;
  const found = memberOf('Document', 'evaluate').value.call(page, xpath, root, null, ordered, null) as XPathNodes;
  return Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at));
};
interface XPathNodes {
  readonly snapshotLength: number;
  snapshotItem(at: number): PageNode;
}

// Boxes and visibility.
export const boxOf = caller<PageElement, [], Box>('Element', 'getBoundingClientRect');
export const rectsOf = (element: PageElement): Box[] =>
  Array.from(memberOf('Element', 'getClientRects').value.call(element) as Iterable<Box>);
export const checkVisibility = caller<
  PageElement,
  [options?: { opacityProperty?: boolean; visibilityProperty?: boolean; contentVisibilityAuto?: boolean }],
  boolean
>('Element', 'checkVisibility');
export const scrollHeightOf = reader<PageElement, number>('Element', 'scrollHeight');
export const scrollWidthOf = reader<PageElement, number>('Element', 'scrollWidth');
export const clientHeightOf = reader<PageElement, number>('Element', 'clientHeight');
export const clientLeftOf = reader<PageElement, number>('Element', 'clientLeft');
export const clientTopOf = reader<PageElement, number>('Element', 'clientTop');
export const clientWidthOf = reader<PageElement, number>('Element', 'clientWidth');
/** Of an element of HTML. */
export const offsetHeightOf = reader<PageElement, number>('HTMLElement', 'offsetHeight');
export const scrollTopOf = reader<PageElement, number>('Element', 'scrollTop');

// Canvases, whose sizes are those of their pictures.
export const canvasWidthOf = reader<PageElement, number>('HTMLCanvasElement', 'width');
export const canvasHeightOf = reader<PageElement, number>('HTMLCanvasElement', 'height');
export const setCanvasWidth = writer<PageElement, number>('HTMLCanvasElement', 'width');
export const setCanvasHeight = writer<PageElement, number>('HTMLCanvasElement', 'height');
/** @throws when it shows images of other origins */
export const pictureOf = caller<PageElement, [], string>('HTMLCanvasElement', 'toDataURL');

// The document.
export const rootElementOf = reader<PageDocument, PageElement | null>('Document', 'documentElement');
export const bodyOf = reader<PageDocument, PageElement | null>('Document', 'body');
export const headOf = reader<PageDocument, PageElement | null>('Document', 'head');
export const titleOf = reader<PageDocument, string>('Document', 'title');
export const setTitle = writer<PageDocument, string>('Document', 'title');
export const modeOf = reader<PageDocument, 'BackCompat' | 'CSS1Compat'>('Document', 'compatMode');
export const urlOf = reader<PageDocument, string>('Document', 'URL');
export const contentTypeOf = reader<PageDocument, string>('Document', 'contentType');
export const doctypeOf = reader<PageDocument, PageNode | null>('Document', 'doctype');
export const fontsOf = reader<
  PageDocument,
  { readonly status: 'loading' | 'loaded'; readonly ready: Promise<unknown> }
>('Document', 'fonts');
export const stateOf = reader<PageDocument, 'loading' | 'interactive' | 'complete'>('Document', 'readyState');
export const imagesOf = lister<PageDocument, PageElement>('Document', 'images');
export const scriptsOf = lister<PageDocument, PageElement>('Document', 'scripts');
export const scrollerOf = reader<PageDocument, PageElement | null>('Document', 'scrollingElement');
/** A member that documents and shadow roots share. */
export const treeMember = (root: PageNode, member: string): Member =>
  memberOf(isDocument(root) ? 'Document' : 'ShadowRoot', member);
/** The topmost element at a point of the window, in a document or a shadow tree. */
export const elementAt = (root: PageRoot, x: number, y: number): PageElement | null =>
  treeMember(root, 'elementFromPoint').value.call(root, x, y) as PageElement | null;
export const rangeIn = caller<PageDocument, [], Range>('Document', 'createRange');
/** Walks through the text nodes below `root`. */
export const textsIn = (root: PageNode): Walker<PageText> => {
  const text = 4;
  return memberOf('Document', 'createTreeWalker').value.call(page, root, text) as Walker<PageText>;
};

/** All elements at a point of the window, the topmost first. */
export const elementsAt = (root: PageNode, x: number, y: number): PageElement[] =>
  treeMember(root, 'elementsFromPoint').value.call(root, x, y) as PageElement[];
/** The number of elements. Chromium keeps it until the document changes. */
export const elementCountOf = (document: PageDocument): number =>
  (memberOf('Document', 'getElementsByTagName').value.call(document, '*') as { readonly length: number }).length;

// Scrolling.
export const setScrollTop = writer<PageElement, number>('Element', 'scrollTop');
export const scrollWithin = caller<PageElement, [Scroll], void>('Element', 'scrollTo');
export const scrollIntoView = caller<PageElement, [IntoView], void>('Element', 'scrollIntoView');
interface Scroll {
  readonly top: number;
  readonly left?: number;
  readonly behavior: 'instant';
}
interface IntoView {
  readonly block: 'nearest';
  readonly inline: 'nearest';
  readonly behavior: 'instant';
  /** Scrolls the next scroll container alone. */
  readonly container?: 'nearest';
}

// Animations.
export const timelineOf = reader<PageDocument, object>('Document', 'timeline');
export const animationsOf = (root: PageRoot): Animation[] =>
  treeMember(root, 'getAnimations').value.call(root) as Animation[];

// Events, dialogs, popovers.
/** Calls `run` for events of a type, before the listeners of the nodes in it. */
export const listen = (node: PageNode, type: string, run: (event: { readonly target: unknown }) => void): void => {
  memberOf('EventTarget', 'addEventListener').value.call(node, type, run, true);
};
export const closeDialog = caller<PageElement, [], void>('HTMLDialogElement', 'close');
export const setPopover = writer<PageElement, 'auto' | 'manual'>('HTMLElement', 'popover');
export const showPopover = caller<PageElement, [], void>('HTMLElement', 'showPopover');

// New elements.
export const createHtml = (name: string): PageElement =>
  memberOf('Document', 'createElementNS').value.call(page, HTML, name) as PageElement;
export const attachShadow = caller<PageElement, [{ mode: 'closed' }], PageFragment>('Element', 'attachShadow');
export const appendChild = caller<PageNode, [PageNode], PageNode>('Node', 'appendChild');

// Changes. Only of copies, and of what is restored before a script of the page can run.
export const createElement = caller<PageDocument, [name: string], PageElement>('Document', 'createElement');
export const createComment = caller<PageDocument, [text: string], PageNode>('Document', 'createComment');
const cloneNode = caller<PageNode, [deep: boolean], PageNode>('Node', 'cloneNode');
export const cloneOf = <Of extends PageNode>(node: Of, deep: boolean): Of => cloneNode(node, deep) as Of;
export const setText = writer<PageNode, string>('Node', 'textContent');
export const setAttribute = caller<PageElement, [name: string, value: string], void>('Element', 'setAttribute');
export const removeAttribute = caller<PageElement, [name: string], void>('Element', 'removeAttribute');
export const append = caller<PageElement, (PageNode | string)[], void>('Element', 'append');
export const insertBefore = caller<PageElement, (PageNode | string)[], void>('Element', 'before');
export const replaceWith = caller<PageElement, (PageNode | string)[], void>('Element', 'replaceWith');
export const replaceChildren = caller<PageElement, (PageNode | string)[], void>('Element', 'replaceChildren');
const removeChild = caller<PageNode, [PageNode], PageNode>('Node', 'removeChild');
export const remove = (node: PageNode): void => {
  const parent = parentOf(node);
  if (parent !== null) removeChild(parent, node);
};

const implementationOf = reader<PageDocument, object>('Document', 'implementation');
// Copies: documents without a window, which load and run nothing.
const createDocument = caller<object, [title: string], PageDocument>('DOMImplementation', 'createHTMLDocument');
const createType = caller<object, [name: string, publicId: string, systemId: string], PageNode>(
  'DOMImplementation',
  'createDocumentType',
);
export const createDoctype = (): PageNode => createType(implementationOf(page), 'html', '', '');
export const emptyDocument = (): PageDocument => createDocument(implementationOf(page), '');
const parse = caller<object, [html: string, type: 'text/html'], PageDocument>('DOMParser', 'parseFromString');
export const parseHtml = (html: string): PageDocument =>
  parse(Reflect.construct(Reflect.get(globalThis, 'DOMParser') as new () => object, []), html, 'text/html');

/**
 * A node as libraries take it, which read its members. They may, as it is one of a copy of what was painted: a copy has
 * no forms, whose elements could hide members, and Defuddle and Turndown give the copy back as text.
 */
export interface LentNode {
  readonly [brand]: { readonly lent: true };
}
export const lend = (copy: PageElement | PageDocument): LentNode => copy as unknown as LentNode;

// Actions of a visitor.
export const click = caller<PageElement, [], void>('HTMLElement', 'click');
export const scrollElementBy = caller<PageElement, [{ left: number; top: number; behavior: 'instant' }], void>(
  'Element',
  'scrollBy',
);
export const inputTypeOf = reader<PageElement, string>('HTMLInputElement', 'type');
/** Submits a form as its submit button would. */
export const submit = caller<PageElement, [], void>('HTMLFormElement', 'requestSubmit');

// Links, images, and what else has a source.
/** The resource that a `link` element names. */
export const linkedBy = reader<PageElement, string>('HTMLLinkElement', 'href');
export const hrefOf = reader<PageElement, string>('HTMLAnchorElement', 'href');
export const currentSrcOf = reader<PageElement, string>('HTMLImageElement', 'currentSrc');
export const isComplete = reader<PageElement, boolean>('HTMLImageElement', 'complete');
export const naturalWidthOf = reader<PageElement, number>('HTMLImageElement', 'naturalWidth');
/** The URL of an image, frame, script or other element with a source; empty for any other. */
export const srcOf = (element: PageElement): string => {
  const { prototype } = (Reflect.get(globalThis, interfaceOf(element)) ?? {}) as { prototype?: object };
  const member = prototype && Object.getOwnPropertyDescriptor(prototype, 'src');
  return String(member?.get?.call(element) ?? '');
};
export const decode = caller<PageElement, [], Promise<void>>('HTMLImageElement', 'decode');
