import { outOfReach } from './send.ts';

/**
 * Yields the lines of a body as they come, and reads on when the next one is asked for. Ends the connection when the
 * caller stops, or nothing came for `silenceMs`. A connection that breaks is a `CapstanFailure`.
 */
export async function* linesOf(
  { body }: Response,
  signal?: AbortSignal,
  silenceMs?: number,
): AsyncGenerator<string, void, undefined> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const giveUp = () => void reader.cancel().catch(() => undefined);
      const silence = silenceMs === undefined ? undefined : setTimeout(giveUp, silenceMs);
      const { done, value } = await reader
        .read()
        .catch((cause: unknown) => {
          throw signal?.aborted ? signal.reason : outOfReach(cause);
        })
        .finally(() => clearTimeout(silence));
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
