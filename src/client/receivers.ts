import { type Ask, dataOf, listOf, type Post } from './answers.ts';
import type { Send } from './send.ts';
import type { CallOptions, DeadLetter, NewReceiver, Receiver, ReceiverTest } from './types.ts';

/** Receivers of messages: chats, mail, webhooks. */
export interface Receivers {
  /** Adds a receiver, which `notify` of watches, standing queries and scans may name. */
  add(receiver: NewReceiver, options?: CallOptions): Promise<Receiver>;
  get(name: string, options?: CallOptions): Promise<Receiver>;
  /** Those of the operator, then those of the key, by name. */
  list(options?: CallOptions): Promise<readonly Receiver[]>;
  /** Removes a receiver, and what waits for it. */
  remove(name: string, options?: CallOptions): Promise<void>;
  /** Sends a sample, and returns how that ended. */
  test(name: string, options?: CallOptions): Promise<ReceiverTest>;
  /** Yields the messages that were given up, oldest first. */
  dead(name: string, options?: CallOptions): AsyncGenerator<DeadLetter, void, undefined>;
  /** Sends a message again that was given up. */
  retry(name: string, message: string, options?: CallOptions): Promise<void>;
  /** Sends all messages again that were given up, at most 1000, and returns their number. */
  retryAll(name: string, options?: CallOptions): Promise<number>;
}

export function receiversOf(send: Send, ask: Ask, post: Post): Receivers {
  const pathOf = (name: string, rest = '') => `/receivers/${encodeURIComponent(name)}${rest}`;
  const command = <T>(path: string, { signal }: CallOptions = {}): Promise<T> =>
    dataOf(ask(path, { method: 'POST', signal }));
  return {
    add: async (receiver, { signal } = {}) => dataOf(post('/receivers', receiver, {}, signal)),
    get: async (name, call) => dataOf(ask(pathOf(name), call)),
    list: async (call) => dataOf(ask('/receivers', call)),
    remove: async (name, call) => void (await send(pathOf(name), { ...call, method: 'DELETE' })),
    test: (name, call) => command(pathOf(name, '/test'), call),
    dead: (name, call = {}) => listOf(ask, pathOf(name, '/dead'), {}, call),
    retry: async (name, message, call) =>
      void (await command(pathOf(name, `/dead/${encodeURIComponent(message)}/retry`), call)),
    retryAll: async (name, call) =>
      (await command<{ readonly messages: number }>(pathOf(name, '/dead/retry'), call)).messages,
  };
}
