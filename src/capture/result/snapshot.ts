import type { OutputKind } from '../artifacts/artifacts.ts';
import type { CapturePhase } from '../phases.ts';
import type { Banner } from './banner.ts';
import type { Evidence } from './evidence.ts';
import type { SeenHostFacts, SoftwareSigns } from './host-facts.ts';
import type { PageWords } from './page-words.ts';
import type { Timings } from './timings.ts';
import type { TruncatedBy } from './truncation.ts';
import type { Verdict } from './verdict.ts';

/** An output of a page. */
export interface Output {
  readonly content: Uint8Array | string;
  /** True when a bound of size or time cut it. */
  readonly partial: boolean;
}

/** The outputs that a request names; null for one that could not be made in time. */
export type Outputs = Readonly<Partial<Record<OutputKind, Output | null>>>;

/** The result of capturing a page in the browser. */
export interface Snapshot {
  /**
   * The URL that was fetched: the request's URL, with `http` when its scheme was assumed and nothing answered over
   * https.
   */
  readonly url: string;
  readonly finalUrl: string;
  readonly title: string;
  /** HTTP status of the main document. */
  readonly responseCode: number;
  readonly responseReason: string;
  /** MIME type of the main document. */
  readonly contentType: string;
  /** Bytes of the main document's body. */
  readonly contentLength: number;
  readonly image: Uint8Array;
  /** Serialised DOM at the time of the screenshot; a large one in UTF-8. */
  readonly html: string | Uint8Array;
  readonly outputs: Outputs;
  /** The element map as JSON; null when it was not requested, or not ready in time. */
  readonly elements: string | null;
  /** The words of the page; null when they were not asked for, or not ready in time. */
  readonly words: PageWords | null;
  /** Pixels of the image. */
  readonly width: number;
  readonly height: number;
  /** True when the image shows less than requested. */
  readonly truncated: boolean;
  /** Why it shows less than requested. */
  readonly truncatedBy: TruncatedBy;
  /** Height of the whole page in pixels, with `fullPage`; 0 without. */
  readonly fullHeight: number;
  /** The phase that the deadline cut, when the capture is partial; null otherwise. */
  readonly cutPhase: CapturePhase | null;
  readonly timings: Timings;
  /** Protocol from Navigation Timing, such as `h2` or `http/1.1`; `''` when unknown. */
  readonly protocol: string;
  /** IP address that the target answered from; null when unknown. */
  readonly remoteIp: string | null;
  /** Null when the HTML was given. */
  readonly hostFacts: SeenHostFacts | null;
  /** Signs by which the software behind the page is named. */
  readonly softwareSigns: SoftwareSigns;
  /** The action taken on a cookie banner; null when none was looked for. */
  readonly banner: Banner | null;
  /** Null when the document is not a page, or could not be examined. */
  readonly verdict: Verdict | null;
  readonly evidence: Evidence;
}
