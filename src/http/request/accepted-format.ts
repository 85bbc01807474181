import { CAPTURE_FORMATS, FORMATS } from '../../capture/artifacts/formats.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { HttpContext } from '../state.ts';
import { JSON_TYPE, preferredType } from './negotiation.ts';
import { prefersAsync } from './prefer.ts';

export const MARKDOWN_TYPE = 'text/markdown';

/**
 * Adds what `Accept` ranks above JSON to the body of a capture: a `format` when the body has none, or the output
 * `markdown`. With `respond-async` nothing is added, because a job is answered with JSON.
 *
 * @throws `not_acceptable` when `Accept` takes neither JSON nor the file.
 */
export function withAcceptedFormat(body: unknown, ctx: HttpContext): unknown {
  if (typeof body !== 'object' || body === null || prefersAsync(ctx)) return body;
  const formats = CAPTURE_FORMATS.filter(
    (format) => !hasFormat(body) || FORMATS[format].extensions.some((name) => name === body.format),
  );
  // The schema refuses an unknown format.
  if (formats.length === 0) return body;
  const offered = [JSON_TYPE, ...formats.map((format) => FORMATS[format].mediaType), MARKDOWN_TYPE];
  const accept = ctx.get('Accept');
  const chosen = preferredType(accept, offered);
  if (chosen === undefined) {
    throw new CapstanError(
      'not_acceptable',
      `Accept ${JSON.stringify(accept)} takes none of the types that can be sent: ${offered.join(', ')}.`,
    );
  }
  if (chosen === MARKDOWN_TYPE) return withMarkdown(body);
  if (hasFormat(body) || chosen === JSON_TYPE) return body;
  return { ...body, format: CAPTURE_FORMATS.find((format) => FORMATS[format].mediaType === chosen) };
}

function withMarkdown(body: object & { readonly outputs?: unknown }): unknown {
  const { outputs = [] } = body;
  // The schema refuses what is not a list.
  return Array.isArray(outputs) ? { ...body, outputs: [...new Set([...outputs, 'markdown'])] } : body;
}

function hasFormat(body: object): body is { readonly format: unknown } {
  return 'format' in body && body.format !== undefined;
}
