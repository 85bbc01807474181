/** An entry of an element map (`src/capture/comparison/element-map.ts`): an element, or a text in one. */
export type Entry = ElementEntry | TextEntry;

export interface ElementEntry {
  readonly parent: number;
  readonly tag: string;
  id?: string;
  class?: string;
  attributes?: Record<string, string>;
  box?: readonly [x: number, y: number, width: number, height: number];
  /** Index of its style. */
  style?: number;
  image?: string;
  /** There when it has elements or text, and none of them is an entry. */
  filled?: true;
}

export interface TextEntry {
  readonly parent: number;
  readonly text: string;
  readonly length: number;
  readonly hash: number;
}
