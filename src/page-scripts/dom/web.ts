import { type Box, type PageDocument, type PageElement, type PageNode, reader } from './dom.ts';
import type { GroupingRule, PageRule, StyleRule, StyleSheet } from './styles.ts';

/*
 * The members of a window, and the objects that they make, as far as scripts of a page use them. Elements cannot hide
 * these. A script of the page can replace them only in its own world.
 */

/** The window of the script. */
export const web = globalThis as unknown as Window;

/** The window of a document; null for a document that no window shows. */
export const windowOf = reader<PageDocument, Window | null>('Document', 'defaultView');

/** A window; that of another document is had by `windowOf`. */
export interface Window {
  readonly top: object | null;
  readonly frameElement: PageElement | null;
  readonly innerWidth: number;
  readonly innerHeight: number;
  readonly devicePixelRatio: number;
  readonly scrollX: number;
  readonly scrollY: number;
  readonly origin: string;
  scrollTo(position: { left?: number; top?: number; behavior?: 'instant' }): void;
  scrollBy(way: { left: number; top: number; behavior: 'instant' }): void;
  getComputedStyle(element: PageElement, pseudo?: string): Style;
  requestAnimationFrame(run: (time: number) => void): number;
  setTimeout(run: () => void, ms: number): number;
  clearTimeout(timer: number): void;
  fetch(url: string): Promise<Response>;
  addEventListener(type: string, run: (event: object) => void, options?: { once?: boolean; capture?: boolean }): void;
  dispatchEvent(event: object): void;
  readonly Event: new (type: string) => object;
  readonly location: { readonly href: string; readonly host: string; replace(url: string): void };
  readonly navigator: { readonly language: string; readonly pdfViewerEnabled: boolean };
  readonly performance: Performance;
  readonly MutationObserver: new (run: (records: readonly Mutation[]) => void) => MutationObserver;
  readonly PerformanceObserver: new (
    run: (list: { getEntries(): readonly PerformanceEntry[] }) => void,
  ) => { observe(options: { type: string }): void; disconnect(): void };
  readonly IntersectionObserver: new (
    run: (entries: readonly Intersection[]) => void,
    options?: { root: PageDocument; rootMargin: string },
  ) => { observe(element: PageElement): void; takeRecords(): readonly Intersection[]; disconnect(): void };
  readonly AbortSignal: { timeout(ms: number): { addEventListener(type: 'abort', run: () => void): void } };
  readonly ViewTimeline: new () => object;
  readonly URL: { new (url: string, base?: string): Url; canParse(url: string, base?: string): boolean };
  readonly CSSStyleSheet: new () => StyleSheet;
  readonly CSSPageRule: new () => PageRule;
  readonly CSSGroupingRule: new () => GroupingRule;
  readonly CSSImportRule: new () => StyleRule & { readonly styleSheet: StyleSheet | null };
  /** Absent in documents that came without encryption. */
  readonly trustedTypes?: { createPolicy(name: string, policy: TrustedTypePolicy): object };
  readonly XMLSerializer: new () => { serializeToString(node: PageNode): string };
  readonly OffscreenCanvas: new (
    width: number,
    height: number,
  ) => { getContext(type: '2d', options?: { willReadFrequently?: boolean }): Canvas2d };
}

interface Response {
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly body: { cancel(): Promise<void> } | null;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
}

/** A file that a page holds. */
export interface Blob {
  readonly type: string;
  slice(from: number, to: number): Blob;
  text(): Promise<string>;
}

/** The computed values of an element. */
export type Style = { readonly [Property in StyleProperty]: string };

type StyleProperty =
  | 'backfaceVisibility'
  | 'backgroundAttachment'
  | 'backgroundClip'
  | 'backgroundColor'
  | 'backgroundImage'
  | 'borderColor'
  | 'borderStyle'
  | 'borderWidth'
  | 'boxShadow'
  | 'breakAfter'
  | 'breakBefore'
  | 'clip'
  | 'clipPath'
  | 'color'
  | 'content'
  | 'contentVisibility'
  | 'cursor'
  | 'display'
  | 'filter'
  | 'float'
  | 'fontFamily'
  | 'fontSize'
  | 'fontStyle'
  | 'fontWeight'
  | 'gridTemplateRows'
  | 'height'
  | 'marginBottom'
  | 'marginLeft'
  | 'marginRight'
  | 'marginTop'
  | 'maskImage'
  | 'minHeight'
  | 'mixBlendMode'
  | 'opacity'
  | 'overflow'
  | 'overflowX'
  | 'overflowY'
  | 'paddingBottom'
  | 'paddingTop'
  | 'page'
  | 'perspective'
  | 'perspectiveOrigin'
  | 'pointerEvents'
  | 'position'
  | 'rotate'
  | 'scale'
  | 'textDecorationLine'
  | 'textShadow'
  | 'top'
  | 'transform'
  | 'translate'
  | 'verticalAlign'
  | 'visibility'
  | 'webkitTextFillColor'
  | 'webkitTextSecurity'
  | 'webkitTextStrokeColor'
  | 'webkitTextStrokeWidth'
  | 'whiteSpace'
  | 'width'
  | 'writingMode'
  | 'zIndex';

interface Performance {
  now(): number;
  getEntriesByType(type: 'navigation'): readonly NavigationTiming[];
  getEntriesByName(name: string): readonly PerformanceEntry[];
}

interface PerformanceEntry {
  readonly startTime: number;
}

interface NavigationTiming extends PerformanceEntry {
  readonly responseStatus: number;
  readonly encodedBodySize: number;
  readonly decodedBodySize: number;
  readonly nextHopProtocol: string;
}

export interface Intersection {
  readonly target: PageElement;
  readonly isIntersecting: boolean;
  readonly intersectionRect: Box;
  readonly boundingClientRect: Box;
}

interface Mutation {
  readonly type: 'attributes' | 'childList' | 'characterData';
  readonly target: PageNode;
  readonly attributeName: string | null;
  readonly addedNodes: Iterable<PageNode>;
}

interface MutationObserver {
  observe(
    node: PageNode,
    options: {
      subtree?: boolean;
      childList?: boolean;
      characterData?: boolean;
      attributes?: boolean;
      attributeFilter?: readonly string[];
    },
  ): void;
  disconnect(): void;
}

interface TrustedTypePolicy {
  createHTML(text: string): string;
  createScript(text: string): string;
  createScriptURL(text: string): string;
}

interface Canvas2d {
  font: string;
  clearRect(x: number, y: number, width: number, height: number): void;
  fillText(text: string, x: number, y: number): void;
  imageSmoothingQuality: 'low' | 'medium' | 'high';
  drawImage(image: PageElement, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray<ArrayBuffer> };
}

export interface Url {
  readonly href: string;
  readonly protocol: string;
  readonly host: string;
}
