import { CapstanError } from '../../capture/errors.ts';
import type { EgressAgents } from '../../egress/egress.ts';

/** Time limit for a download, and for the time without any byte of it, in milliseconds. */
const TIMEOUT_MS = 120_000;
const SILENCE_MS = 15_000;
/** Maximum size of a sitemap, as its standard says, in bytes. */
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_REDIRECTS = 10;

/**
 * Generates the bytes of a file of the web, through the egress policy. Throws `target_unreachable` when there is no 2xx
 * answer, and `target_forbidden` when the policy refuses it or a redirect.
 */
export async function* downloadList(
  url: string,
  agents: EgressAgents,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Loaded with the first download, because got takes a tenth of the CPU time of a start.
  const { default: got } = await import('got');
  const download = got.stream(url, {
    agent: agents,
    signal,
    // The list says itself whether it is compressed; a Content-Encoding would be on top of that.
    decompress: true,
    maxRedirects: MAX_REDIRECTS,
    headers: { 'user-agent': 'capstan', accept: 'application/xml, text/xml, */*' },
    retry: { limit: 0 },
    timeout: { request: TIMEOUT_MS, socket: SILENCE_MS },
  });
  let read = 0;
  try {
    for await (const chunk of download) {
      read += chunk.byteLength;
      if (read > MAX_BYTES) throw new CapstanError('payload_too_large', 'it is larger than 50 MiB');
      yield chunk;
    }
  } catch (error) {
    throw downloadFailure(error);
  } finally {
    download.destroy();
  }
}

function downloadFailure(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  const { cause, message = String(error) } = error instanceof Error ? error : {};
  return cause instanceof CapstanError ? cause : new CapstanError('target_unreachable', message, { cause: error });
}
