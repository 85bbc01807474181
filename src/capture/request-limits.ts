/* Limits on the work of one request. The table in docs/security.md is written from them. */

import { MAX_MARKS } from '../words/comparable.ts';

export interface RequestLimit {
  readonly max: number;
  /** Unit of `max`; empty for numbers of what `of` names. */
  readonly unit: 'bytes' | 'characters' | 'pixels' | 'seconds' | '';
  readonly of: string;
  /** Effect of exceeding the limit. */
  readonly beyond: string;
  /** Measured longest turn of the event loop at the limit, in CPU time on a busy machine; null when there is none. */
  readonly turn: string | null;
}

export const REQUEST_LIMITS = {
  body: {
    ...{ max: 1024 * 1024, unit: 'bytes', of: 'a body after decompression, or a line of a batch' },
    ...{ beyond: '`413 payload_too_large`; of a line, its failure', turn: '5 ms' },
  },
  bodyValues: {
    ...{
      max: 60_000,
      unit: '',
      of: 'names, list elements, lists and objects of a body, or of a line of a batch, at most 200 levels deep',
    },
    ...{
      beyond: '`400 invalid_request` before it is parsed',
      turn: '20 ms for 20,000 objects of one new name each',
    },
  },
  values: {
    ...{ max: 5000, unit: '', of: 'names and list elements of the options of a capture' },
    ...{ beyond: '`400 invalid_request` before they are parsed', turn: '50 ms' },
  },
  problems: {
    ...{ max: 256 * 1024, unit: 'characters', of: 'problems that a refusal lists, at most 5000' },
    ...{
      beyond: 'the number of the others',
      turn: '10 ms for a batch of 30,000 unknown names, 35 ms of 30,000 wrong headers',
    },
  },
  selectors: {
    ...{ max: 10_000, unit: 'characters', of: 'the selectors of a list of `ignore` or `elements`' },
    ...{ beyond: '`400 invalid_request` before they are parsed', turn: '20 ms' },
  },
  watchedValues: {
    ...{ max: 10_000, unit: 'characters', of: 'the `values` of a watch as JSON, at most 20' },
    ...{ beyond: '`400 invalid_request` before their selectors are read', turn: '4 ms' },
  },
  marks: {
    ...{ max: MAX_MARKS, unit: '', of: 'marks on a character, in texts that are compared or searched' },
    ...{ beyond: 'the others are left out: putting 64 Ki marks in order took 1.3 s', turn: '4 ms' },
  },
  readTogether: {
    ...{
      max: 1024 * 1024,
      unit: 'characters',
      of: 'records or events that are read at once for lists, exports and replays; by their ids, 50 records; in a cluster, 25 events',
    },
    ...{ beyond: 'they are read one part after the other', turn: null },
  },
  comparedPixels: {
    ...{
      max: 2 ** 25,
      unit: 'pixels',
      of: 'each image of a comparison; one comparison at a time; large ones are in files of the data directory (at most 768 MiB, plus drawings that are being sent), and only WebP is decoded as a whole, in 8 bytes a pixel: 163 MiB for two of 1,280 by 16,383, 256 MiB for the largest',
    },
    ...{ beyond: '`422 comparison_too_large`', turn: null },
  },
  thumbnailPixels: {
    ...{
      max: 2 ** 23,
      unit: 'pixels',
      of: 'a thumbnail in WebP, plus the scaled WebP image it is made from; at most two thumbnails at a time',
    },
    ...{ beyond: 'the thumbnail is scaled down', turn: null },
  },
  avifPixels: {
    ...{ max: 1.5 * 2 ** 20, unit: 'pixels', of: 'a thumbnail in AVIF' },
    ...{ beyond: 'the thumbnail is scaled down', turn: null },
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
