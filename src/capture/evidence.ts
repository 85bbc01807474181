/*
 * How a capture came about. What comes for free is always noted; the rest costs something, and only when it is asked
 * for. Every list is bounded, and says how much was left out. Key names are those of the wire.
 */

/** What is noted only when it is asked for. */
export const EVIDENCE_KINDS = [
  'redirects',
  'headers',
  'tls',
  'console',
  'network',
  'perception_hash',
  'favicon',
] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** A list that was cut where it grew too long. */
export interface Noted<T> {
  readonly items: readonly T[];
  /** How many more there were. */
  readonly omitted: number;
}

export interface Evidence {
  /** Dialogs that the page opened; every one was dismissed. */
  readonly dialogs: Noted<NotedDialog>;
  /** URLs of pages that the page wanted to open in other windows; none was opened. */
  readonly popups: Noted<string>;
  /** Of the page's own context, at the time of the screenshot; none of a capture that failed. Long values are cut. */
  readonly cookies: Noted<NotedCookie>;
  readonly redirects?: Noted<NotedRedirect> | undefined;
  /** Of the main document's response; a name that came more than once has its values joined by newlines. */
  readonly headers?: Noted<NotedHeader> | undefined;
  /** Null when the document did not come over TLS. */
  readonly tls?: NotedTls | null | undefined;
  readonly console?: Noted<NotedMessage> | undefined;
  readonly network?: Noted<NotedRequest> | undefined;
  /** Null when there is none, or it could not be had. */
  readonly favicon?: NotedFavicon | null | undefined;
}

export interface NotedDialog {
  readonly type: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  readonly message: string;
}

export interface NotedCookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
  /** ISO 8601, UTC; null: with the session. */
  readonly expires: string | null;
  readonly secure: boolean;
  readonly http_only: boolean;
  readonly same_site: 'Strict' | 'Lax' | 'None' | null;
}

/** One hop that led on. */
export interface NotedRedirect {
  readonly url: string;
  /** HTTP status; 0 for one by script or refresh. */
  readonly status: number;
  /** Absolute. */
  readonly location: string;
}

export interface NotedHeader {
  readonly name: string;
  readonly value: string;
}

export interface NotedTls {
  readonly version: string;
  readonly cipher: string;
  readonly issuer: string;
  readonly subject: string;
  readonly names: readonly string[];
  /** ISO 8601, UTC. */
  readonly valid_from: string;
  readonly valid_to: string;
  /** SHA-256 of the certificate, lower-case hex; `''` when it could not be had. */
  readonly fingerprint: string;
}

export interface NotedMessage {
  /** `exception` is an error of the page that nothing caught. */
  readonly level: 'debug' | 'info' | 'log' | 'warning' | 'error' | 'exception';
  readonly text: string;
  /** Where it was said; `''` when that is not known. */
  readonly url: string;
  /** From 1; 0 when it is not known. */
  readonly line: number;
}

export interface NotedRequest {
  readonly method: string;
  readonly url: string;
  /** As browsers name it in their network panels, lower-case: `document`, `image`, `xhr`. */
  readonly type: string;
  /** 0 when there was no response. */
  readonly status: number;
  /** As they came over the wire. */
  readonly bytes: number;
  /** Milliseconds from its start to its end; null when it had not ended. */
  readonly time_ms: number | null;
  /** `''` when it did not fail. */
  readonly failure: string;
}

export interface NotedFavicon {
  readonly url: string;
  readonly type: string;
  readonly bytes: number;
  /** SHA-256, lower-case hex. */
  readonly sha256: string;
}
