import { LINES_TYPE, LINES_TYPES } from '../lines/streamed-body.ts';

export const JSON_TYPE = 'application/json';

// Not by Koa's ctx.accepts: for it, `Accept: application/json; charset=utf-8` takes no JSON.

/** A client's preference for a media type: its weight and its position in the header, where the earlier wins a tie. */
interface Preference {
  readonly weight: number;
  readonly position: number;
}

interface MediaRange extends Preference {
  readonly type: string;
  readonly subtype: string;
}

/**
 * Returns which of two representations an Accept header prefers: by weight, then by position in the header. Returns
 * `fallback` when it prefers neither, or accepts neither: an answer is better than none.
 */
export function preferImageOrJson(accept: string, imageType: string, fallback: 'image' | 'json'): 'image' | 'json' {
  return preferOrJson(accept, imageType, 'image', fallback);
}

/** Chooses between lines of JSON and one JSON document in the same way. The names of lines are one name. */
export function preferLinesOrJson(accept: string, fallback: 'lines' | 'json'): 'lines' | 'json' {
  const named = LINES_TYPES.reduce((header, name) => header.replaceAll(name, LINES_TYPE), accept.toLowerCase());
  return preferOrJson(named, LINES_TYPE, 'lines', fallback);
}

/** Returns the name of lines of JSON that an Accept header prefers; the usual one when it prefers none. */
export function preferredLinesType(accept: string): string {
  return preferredType(accept, LINES_TYPES) ?? LINES_TYPE;
}

function preferOrJson<T extends string>(
  accept: string,
  mediaType: string,
  name: T,
  fallback: NoInfer<T> | 'json',
): T | 'json' {
  // Of types that are preferred equally, the first one is chosen.
  const offered = fallback === 'json' ? [JSON_TYPE, mediaType] : [mediaType, JSON_TYPE];
  const chosen = preferredType(accept, offered) ?? offered[0];
  return chosen === JSON_TYPE ? 'json' : name;
}

/**
 * Returns the media type of `offered` that an Accept header prefers: by weight, then by position in the header, then in
 * `offered`. Returns the first one when the header names no media type, and undefined when it accepts none of them.
 */
export function preferredType(accept: string, offered: readonly string[]): string | undefined {
  const ranges = parseAccept(accept);
  if (ranges.length === 0) return offered[0];
  const [best] = offered
    .map((type) => ({ ...preference(ranges, type), type }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight || a.position - b.position);
  return best?.type;
}

function parseAccept(header: string): readonly MediaRange[] {
  return header.split(',').flatMap((part, position) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const [, type, subtype] = /^([^\s/]+)\/([^\s/]+)$/.exec(range) ?? [];
    return type === undefined || subtype === undefined ? [] : [{ type, subtype, position, weight: weight(parameters) }];
  });
}

function weight(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (given === undefined) return 1;
  const value = Number(given.slice(given.indexOf('=') + 1).trim() || Number.NaN);
  return Number.isNaN(value) ? 0 : Math.min(Math.max(value, 0), 1);
}

/** Returns the preference of the most specific range that covers a type (RFC 9110, 12.5.1). */
function preference(ranges: readonly MediaRange[], mediaType: string): Preference {
  const [type = '', subtype = ''] = mediaType.split('/');
  const levels = [
    (range: MediaRange) => range.type === type && range.subtype === subtype,
    (range: MediaRange) => range.type === type && range.subtype === '*',
    (range: MediaRange) => range.type === '*' && range.subtype === '*',
  ];
  for (const covers of levels) {
    const range = ranges.find(covers);
    if (range !== undefined) return range;
  }
  return { weight: 0, position: Number.POSITIVE_INFINITY };
}
