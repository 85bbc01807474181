import type { Protocol } from 'devtools-protocol';
import type { CaptureRequest } from '../../capture/request.ts';
import type { BodyLimits } from './body-reader.ts';

/** Limits of the bodies in a HAR. */
export const HAR_BODIES: BodyLimits = { each: 1024 * 1024, all: 16 * 1024 * 1024 };
/** Maximum size in bytes of the body of a request in a HAR, which the browser reports when the request begins. */
export const MAX_POSTED_BYTES = 64 * 1024;
/** Limits of the style sheets and fonts that are added to an archive. Their answers have at most 4 MiB. */
export const ARCHIVED_BODIES: BodyLimits = { each: 3 * 1024 * 1024, all: 16 * 1024 * 1024 };

type Asking = Pick<CaptureRequest, 'outputs' | 'har'>;

/** Returns whether the capture records the bodies of requests and responses in its HAR. */
export function recordsBodies({ outputs = [], har }: Asking): boolean {
  return har?.bodies === true && outputs.includes('har');
}

/**
 * Returns what `Network.enable` is sent with. The browser keeps bodies only for captures that read them. Every sender
 * must use the same limits, because the last command counts.
 */
export function networkBuffers(request: Asking): Protocol.Network.EnableRequest {
  const isHar = recordsBodies(request);
  const limits = [
    ...(isHar ? [HAR_BODIES] : []),
    ...(request.outputs?.includes('mhtml') === true ? [ARCHIVED_BODIES] : []),
  ];
  return {
    maxTotalBufferSize: Math.max(0, ...limits.map(({ all }) => all)),
    maxResourceBufferSize: Math.max(0, ...limits.map(({ each }) => each)),
    ...(isHar && { maxPostDataSize: MAX_POSTED_BYTES }),
  };
}
