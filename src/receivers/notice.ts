/** The news of an event for people. Texts are plain: each transport escapes them for its own language. */
export interface Notice {
  /** `Price fell from €59.00 to €47.50`. Text of pages stands in quotation marks. */
  readonly sentence: string;
  /** Whether something went wrong. */
  readonly isProblem: boolean;
  /** Further lines: the page, its labels, the time. */
  readonly facts: readonly { readonly label: string; readonly text: string }[];
  /** The comparison, the page, the capture. */
  readonly links: readonly { readonly label: string; readonly url: string }[];
  /** Before, after, and the marked difference, as far as there are any. */
  readonly images: readonly NoticeImage[];
}

export interface NoticeImage {
  readonly name: 'before' | 'after' | 'difference';
  readonly alt: string;
  /** Address that a receiver without a key can read; null when there is none. */
  readonly url: string | null;
  /** Reads the image, at most so many bytes: a larger one is made smaller. Null when there is no image any more. */
  read(maxBytes: number): Promise<{ readonly bytes: Buffer; readonly mediaType: string } | null>;
}
