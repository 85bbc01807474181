import { outOfReach } from './send.ts';

/**
 * Yields the lines of a body as they come, and reads on when the next one is asked for. Ends the connection when the
 * caller stops. A connection that breaks is a `CapstanFailure`.
 */
export async function* linesOf({ body }: Response, signal?: AbortSignal): AsyncGenerator<string, void, undefined> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw signal?.aborted ? signal.reason : outOfReach(cause);
      });
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.map((line) => line.replace(/\r$/, ''));
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
