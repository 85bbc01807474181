/** The news of an event for people. Texts are plain: each transport escapes them for its own language. */
export interface Notice {
  /** The page, scan or part that the news is about, such as `shop.example/lamps`. */
  readonly about: string;
  /** `Price fell from €59.00 to €47.50`. Text of pages stands in quotation marks. */
  readonly sentence: string;
  /** Whether something went wrong. */
  readonly isProblem: boolean;
  /** Further lines: the labels, the time. */
  readonly facts: readonly { readonly label: string; readonly text: string }[];
  /** The comparison, the capture, the page, the most useful first. Labels are the service's own words. */
  readonly links: readonly { readonly label: string; readonly url: string }[];
  /** The marked difference, after, and before, the most useful first, as far as there are any. */
  readonly images: readonly NoticeImage[];
}

export interface NoticeImage {
  readonly name: 'before' | 'after' | 'difference';
  /** The service's own words. */
  readonly alt: string;
  /** Address that a receiver without a key can read; null when there is none. */
  readonly url: string | null;
  /**
   * Reads the image; a larger one is made smaller. Null when there is no image any more, or it cannot be made to fit.
   */
  read(limits: ImageLimits): Promise<ReadImage | null>;
}

export interface ImageLimits {
  readonly maxBytes: number;
  /** Maximum number of pixels of a side. */
  readonly maxSide: number;
}

export interface ReadImage {
  readonly bytes: Buffer;
  readonly mediaType: 'image/png' | 'image/jpeg';
}
