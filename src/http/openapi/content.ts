import type { z } from 'zod';
import { ARTIFACT_KINDS, ARTIFACTS } from '../../capture/artifacts/artifacts.ts';
import { CAPTURE_FORMATS, FORMATS } from '../../capture/artifacts/formats.ts';
import { THUMBNAIL_FORMATS } from '../../capture/artifacts/thumbnail.ts';
import { successSchema } from '../answer/schemas.ts';
import { LINES_TYPES } from '../lines/streamed-body.ts';
import type { JsonObject } from './json-object.ts';

/** The schema of a body: a zod schema, with a name when it is a component of the document, or a JSON Schema. */
export type Media = { readonly schema: z.ZodType; readonly name?: string } | { readonly text: JsonObject };

/** Bodies by media type. */
export type Content = Readonly<Record<string, Media>>;

/** One JSON value, without an envelope. */
export function json(schema: z.ZodType): Content {
  return { 'application/json': { schema } };
}

/** The envelope of a success around `data`; the component `<name>Envelope`. */
export function envelope(name: string, data: z.ZodType): Content {
  return { 'application/json': { schema: successSchema(data), name: `${name}Envelope` } };
}

/** One JSON value on each line, by each of its names. */
export function lines(schema: z.ZodType): Content {
  return Object.fromEntries(LINES_TYPES.map((type) => [type, { schema }]));
}

export function text(mediaType: string): Content {
  return { [mediaType]: { text: { type: 'string' } } };
}

/** A thumbnail, in every format. */
export const THUMBNAIL_FILE: Content = Object.fromEntries(
  THUMBNAIL_FORMATS.map((format) => [`image/${format}`, { text: { type: 'string', format: 'binary' } }]),
);

/** The file of a capture, in every format. */
export const CAPTURED_FILE: Content = Object.fromEntries(
  CAPTURE_FORMATS.map((format) => [FORMATS[format].mediaType, { text: { type: 'string', format: 'binary' } }]),
);

/** The HTML snapshot and the outputs of a capture. */
export const PAGE_FILE: Content = Object.fromEntries(
  ARTIFACT_KINDS.filter((kind) => kind !== 'image')
    .map((kind) => ARTIFACTS[kind])
    .map(({ mediaType, isInert }) => [
      mediaType('png').split(';', 1)[0] ?? '',
      { text: { type: 'string', ...(isInert ? {} : { format: 'binary' }) } },
    ]),
);

export const ANY_JSON: Content = { 'application/json': { text: { type: 'object' } } };
