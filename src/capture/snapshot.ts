import type { Evidence } from './evidence.ts';
import type { CapturePhase, Timings } from './phases.ts';

/** What a browser actor saw of a page. */
export interface Snapshot {
  /** The URL that was fetched: that of the request, with `http` where its scheme was assumed and nothing answered. */
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
  /** Serialised DOM at the time of the screenshot. */
  readonly html: string;
  /** Pixels of the image. */
  readonly width: number;
  readonly height: number;
  /** True when it shows less than was asked for, because one screenshot holds no more. */
  readonly truncated: boolean;
  /** Pixels of the whole page, with `fullPage`; 0 without. */
  readonly fullHeight: number;
  /** The phase that the deadline cut: this is what was there. Null when none was. */
  readonly cutPhase: CapturePhase | null;
  readonly timings: Timings;
  /** As Navigation Timing has it: `h2`, `http/1.1`; `''` when it is not known. */
  readonly protocol: string;
  /** The address that the target answered from, when it is known. */
  readonly remoteIp: string | null;
  readonly evidence: Evidence;
}
