import { fingerprintOf } from '../../capture/basics/key-digest.ts';
import type { RequestedBy } from '../../service/capture-service.ts';
import type { HttpContext } from '../state.ts';

/**
 * Returns the client of a request for log lines: the name of its API key, the first digits of the key's SHA-256, and
 * its address (behind a proxy: the proxy's address). Call this function before the connection closes, because the
 * address is not available afterwards.
 */
export function requestedBy({ req, state }: Pick<HttpContext, 'req' | 'state'>): RequestedBy {
  const { remoteAddress } = req.socket;
  return {
    ...(remoteAddress === undefined ? {} : { client_address: remoteAddress }),
    ...(state.caller?.apiKeyName == null ? {} : { api_key_name: state.caller.apiKeyName }),
    ...(state.client === undefined ? {} : { api_key: fingerprintOf(state.client) }),
  };
}
