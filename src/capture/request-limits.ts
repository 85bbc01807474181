/* Limits on the work of one request. The table in docs/security.md is written from them. */

export interface RequestLimit {
  readonly max: number;
  /** Unit of `max`; empty for numbers of what `of` names. */
  readonly unit: 'bytes' | 'characters' | 'seconds' | '';
  readonly of: string;
  /** What happens beyond the limit. */
  readonly beyond: string;
  /** Measured longest turn of the event loop at the limit, in CPU time on a busy machine; null when there is none. */
  readonly turn: string | null;
}

export const REQUEST_LIMITS = {
  body: {
    ...{ max: 1024 * 1024, unit: 'bytes', of: 'a body after decompression, or a line of a batch' },
    ...{ beyond: '`413 payload_too_large`; of a line, its failure', turn: '15 ms' },
  },
  values: {
    ...{ max: 5000, unit: '', of: 'names and list elements of the options of a capture' },
    ...{ beyond: '`400 invalid_request` before they are parsed', turn: '50 ms' },
  },
  problems: {
    ...{ max: 256 * 1024, unit: 'characters', of: 'problems that a refusal lists, at most 5000' },
    ...{ beyond: 'the number of the others', turn: '110 ms for a batch of unknown names' },
  },
  selectors: {
    ...{ max: 10_000, unit: 'characters', of: 'the selectors of a list of `ignore` or `elements`' },
    ...{ beyond: '`400 invalid_request` before they are parsed', turn: '20 ms' },
  },
  comparison: {
    ...{ max: 10, unit: 'seconds', of: 'comparing elements, in a thread' },
    ...{ beyond: 'the captures are compared without elements', turn: null },
  },
  names: {
    ...{ max: 256, unit: 'characters', of: 'ids, tokens and names in messages of the Model Context Protocol' },
    ...{ beyond: 'the message is refused', turn: null },
  },
} as const satisfies Readonly<Record<string, RequestLimit>>;
