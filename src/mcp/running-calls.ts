import { z } from 'zod';

const Id = z.union([z.string(), z.number()]);
const Request = z.looseObject({ id: Id });
const Cancellation = z.looseObject({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: Id }),
});

/**
 * Ends calls for clients that use a 2025 revision of the protocol, which cancel a call over HTTP with a second request.
 * Clients of later revisions close the connection.
 */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>();

  /** Takes a message of a client: begins a call, or cancels one. Returns a function to call when it was answered. */
  take(session: string, message: unknown, call: AbortController): () => void {
    const cancelled = Cancellation.safeParse(message).data?.params.requestId;
    if (cancelled !== undefined) this.#running.get(nameOf(session, cancelled))?.abort();
    const id = Request.safeParse(message).data?.id;
    if (session === '' || id === undefined) return () => undefined;
    const name = nameOf(session, id);
    this.#running.set(name, call);
    return () => {
      if (this.#running.get(name) === call) this.#running.delete(name);
    };
  }
}

function nameOf(session: string, id: string | number): string {
  return JSON.stringify([session, id]);
}
