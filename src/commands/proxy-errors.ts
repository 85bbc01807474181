import { subscribe } from 'node:diagnostics_channel';

/** Where Node's fetch tells that a connection could not be made, before it decides whether its requests have failed. */
const CONNECT_ERROR = 'undici:client:connectError';

/**
 * Makes requests fail when the proxy of the environment (HTTP_PROXY with NODE_USE_ENV_PROXY) closes the connection.
 * Node's fetch would connect again and again, without an end or a pause: it takes that for a socket which had worked.
 */
export function failWhenProxyCloses(): void {
  subscribe(CONNECT_ERROR, (message) => {
    if (typeof message !== 'object' || message === null || !('error' in message)) return;
    const { error } = message;
    if (!(error instanceof Error && 'code' in error) || error.code !== 'UND_ERR_SOCKET') return;
    error.code = 'ECONNRESET';
    error.message = `the proxy closed the connection (${error.message})`;
  });
}
