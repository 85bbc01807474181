import type { CaptureRequest } from '../request.ts';
import { targetOf } from '../target.ts';

/** A request as JSON. */
export type StoredRequest = Omit<CaptureRequest, 'target'> & {
  readonly url: string;
  readonly schemeAssumed?: boolean | undefined;
};

export function requestToStore({ target, ...options }: CaptureRequest): StoredRequest {
  return { ...options, url: target.url, schemeAssumed: target.schemeAssumed };
}

export function requestFromStore({ url, schemeAssumed, ...options }: StoredRequest): CaptureRequest {
  return { ...options, target: targetOf(url, schemeAssumed) };
}
