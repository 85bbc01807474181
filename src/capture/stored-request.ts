import { DEFAULT_PDF } from './options/pdf.ts';
import { type CaptureRequest, DEFAULT_REQUEST } from './request.ts';
import { targetOf } from './target.ts';

/** A request as JSON, written by this or an earlier version. */
export type StoredRequest = Partial<Omit<CaptureRequest, 'target'>> & {
  readonly url: string;
  readonly schemeAssumed?: boolean | undefined;
};

export function requestToStore({ target, ...options }: CaptureRequest): StoredRequest {
  return { ...options, url: target.url, schemeAssumed: target.schemeAssumed };
}

/**
 * Reads a stored request. An option gets its default when the version that wrote the request did not know it or left it
 * out.
 */
export function requestFromStore({ url, schemeAssumed, ...options }: StoredRequest): CaptureRequest {
  return {
    ...DEFAULT_REQUEST,
    ...options,
    target: targetOf(url, schemeAssumed),
    pdf: { ...DEFAULT_PDF, ...options.pdf },
    ...(options.form && { form: { ...options.form, submit: options.form.submit ?? true } }),
  };
}
