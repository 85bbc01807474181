import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { z } from 'zod';

/** Where Node's fetch tells that a connection could not be made. */
const CONNECT_ERROR = 'undici:client:connectError';

/** A connection that a proxy (HTTP_PROXY with NODE_USE_ENV_PROXY) has closed. */
const ClosedByProxy = z.object({
  connectParams: z.object({ host: z.string() }),
  error: z.object({ code: z.literal('UND_ERR_SOCKET') }),
});

/** `fetch` that rejects when a proxy closes the connection. Node's own connects again and again, without an end. */
export const fetchOrFail: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { host } = new URL(request.url);
  const closed = new AbortController();
  const onError = (message: unknown): void => {
    const { data } = ClosedByProxy.safeParse(message);
    if (data?.connectParams.host === host) closed.abort(new Error('the proxy closed the connection'));
  };
  subscribe(CONNECT_ERROR, onError);
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, closed.signal]) });
  } finally {
    unsubscribe(CONNECT_ERROR, onError);
  }
};
