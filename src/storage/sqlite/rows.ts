import type { HostRange } from '../records/hosts.ts';

/** A record as the worker writes it: the indexed columns, and the whole as JSON. */
export interface Row {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly probedAt: number;
  readonly host: string;
  readonly urlKey: Uint8Array;
  /** Key of the final URL; null where it is the same. */
  readonly finalUrlKey: Uint8Array | null;
  readonly record: string;
  /** JSON. */
  readonly evidence: string | null;
  readonly perceptionHash: string | null;
  /** Name of the API key that requested the capture. */
  readonly apiKeyName: string | null;
  /** Terms of lists with conditions, without those of its URLs. */
  readonly terms: readonly string[];
}

/** A record and its evidence; JSON. */
export interface DetailedRow {
  readonly record: string;
  readonly evidence: string | null;
}

export interface SimilarRow {
  readonly record: string;
  readonly distance: number;
}

export type RowFilter =
  | { readonly by: 'all' }
  | { readonly by: 'url'; readonly urlKeys: readonly Uint8Array[] }
  | { readonly by: 'host'; readonly ranges: readonly HostRange[] };

/** Records of a list that have all terms and are not older than a time, in milliseconds since the Unix epoch. */
export interface ListedRows {
  readonly filter: RowFilter;
  readonly terms: readonly string[];
  readonly from: number | null;
}

/** A position in a list, after which the next rows come. */
export interface Place {
  readonly probedAt: number;
  readonly id: number;
}
