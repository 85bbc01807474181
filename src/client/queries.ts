import { readAnswer } from './answers.ts';
import { CapstanFailure, type Send, withRetries } from './send.ts';
import type { CallOptions, CapstanEvent, ReceivedEvent } from './types.ts';

/** Seconds for which the service waits for an event. */
const WAIT_SECONDS = 30;

interface Delivery {
  readonly events: readonly { readonly id: number; readonly event: CapstanEvent | Gap }[];
}

interface Gap {
  readonly type: 'gap';
  readonly reason: string;
  readonly text: string;
}

/**
 * Yields the events of a standing query. An event is processed when the reader takes the next one; those that are
 * processed are acknowledged at the end of each answer, and when the reader stops. The others come again.
 */
export async function* consumeQuery(
  send: Send,
  id: string,
  { signal }: CallOptions,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const path = `/queries/${encodeURIComponent(id)}`;
  let processed: number | undefined;
  /** Repeats a request for as long as the service is out of reach. */
  const patiently = <T>(work: () => Promise<T>): Promise<T> => withRetries(Number.POSITIVE_INFINITY, signal, work);
  const acknowledge = async () => {
    if (processed === undefined) return;
    const body = JSON.stringify({ position: processed });
    processed = undefined;
    await patiently(() => send(`${path}/ack`, { method: 'POST', body })).catch((error: unknown) => {
      // Another consumer of the query was faster.
      if (!(error instanceof CapstanFailure && error.code === 'already_acknowledged')) throw error;
    });
  };
  for (;;) {
    const { data } = await patiently(async () =>
      readAnswer<Delivery>(await send(`${path}/next?wait=${WAIT_SECONDS}`, { signal })),
    );
    try {
      for (const { id: eventId, event } of data.events) {
        yield event.type === 'gap' ? { gap: event } : { id: eventId, event };
        processed = eventId;
      }
    } finally {
      await acknowledge();
    }
  }
}
