import type { PageElement, PageNode } from './dom.ts';

/*
 * The members of a window, and the objects that they make, as far as scripts of a page use them. Elements cannot hide
 * these. A script of the page can replace them only in its own world.
 */

/** The window of the script. */
export const web = globalThis as unknown as Window;

/** A window; that of another document is had by `windowOf`. */
export interface Window {
  readonly innerWidth: number;
  readonly innerHeight: number;
  readonly scrollX: number;
  readonly scrollY: number;
  readonly origin: string;
  scrollTo(position: { left?: number; top?: number; behavior?: 'instant' }): void;
  scrollBy(way: { left: number; top: number; behavior: 'instant' }): void;
  getComputedStyle(element: PageElement, pseudo?: string): Style;
  requestAnimationFrame(run: (time: number) => void): number;
  setTimeout(run: () => void, ms: number): number;
  clearTimeout(timer: number): void;
  addEventListener(type: string, run: (event: object) => void, options?: { once?: boolean; capture?: boolean }): void;
  readonly location: { readonly href: string; readonly host: string };
  readonly performance: Performance;
  readonly MutationObserver: new (run: (records: readonly Mutation[]) => void) => MutationObserver;
  readonly PerformanceObserver: new (
    run: (list: { getEntries(): readonly PerformanceEntry[] }) => void,
  ) => { observe(options: { type: string }): void; disconnect(): void };
  readonly IntersectionObserver: new (
    run: (entries: readonly { readonly isIntersecting: boolean; readonly target: PageElement }[]) => void,
  ) => { observe(element: PageElement): void; disconnect(): void };
  readonly AbortSignal: { timeout(ms: number): { addEventListener(type: 'abort', run: () => void): void } };
  readonly CSSStyleSheet: new () => StyleSheet;
  readonly ViewTimeline: new () => object;
  readonly XMLSerializer: new () => { serializeToString(node: PageNode): string };
  readonly OffscreenCanvas: new (
    width: number,
    height: number,
  ) => { getContext(type: '2d', options?: { willReadFrequently?: boolean }): Canvas2d };
}

export interface StyleSheet {
  replaceSync(text: string): void;
}

/** The computed values of an element. */
export type Style = { readonly [Property in StyleProperty]: string };

type StyleProperty =
  | 'backgroundClip'
  | 'backgroundColor'
  | 'backgroundImage'
  | 'clipPath'
  | 'color'
  | 'contentVisibility'
  | 'display'
  | 'filter'
  | 'height'
  | 'minHeight'
  | 'opacity'
  | 'overflowX'
  | 'overflowY'
  | 'position'
  | 'rotate'
  | 'scale'
  | 'top'
  | 'transform'
  | 'translate'
  | 'visibility'
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

interface Canvas2d {
  imageSmoothingQuality: 'low' | 'medium' | 'high';
  drawImage(image: PageElement, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray<ArrayBuffer> };
}
