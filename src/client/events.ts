import { linesOf } from './lines.ts';
import { CapstanFailure, outOfReach, pause, type Send } from './send.ts';
import type { CallOptions, EventFilter, ReceivedEvent } from './types.ts';

/** Silence after which a connection counts as broken, in milliseconds. The service sends a comment every 15 s. */
const SILENCE_MS = 45_000;

/**
 * Yields events until the signal is aborted. Reconnects after every break, and goes on after the last event that was
 * yielded, so that none is missed or comes twice; where the service's log does not reach back so far, there is a `gap`.
 */
export async function* receiveEvents(
  send: Send,
  { types = [], lastEventId, ...filter }: EventFilter,
  { signal, silenceMs = SILENCE_MS }: CallOptions & { readonly silenceMs?: number },
): AsyncGenerator<ReceivedEvent, void, undefined> {
  let last = lastEventId;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const query = new URLSearchParams({ ...filter });
      if (types.length > 0) query.set('type', types.join(','));
      if (last !== undefined) query.set('lastEventId', String(last));
      const response = await send(`/events?${query}`, { headers: { Accept: 'text/event-stream' }, signal });
      for await (const message of messagesOf(linesOf(response, signal, silenceMs))) {
        attempt = 0;
        if (message.id !== undefined) last = message.id;
        if (message.event === 'gap') yield { gap: JSON.parse(message.data) };
        else if (message.id !== undefined && message.data !== '')
          yield { id: message.id, event: JSON.parse(message.data) };
      }
      throw outOfReach(undefined);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!(error instanceof CapstanFailure && error.isTemporary)) throw error;
      await pause(attempt, error, signal);
    }
  }
}

interface Message {
  id?: number;
  event: string;
  data: string;
}

/** Puts the lines of Server-Sent Events together. */
async function* messagesOf(lines: AsyncIterable<string>): AsyncGenerator<Message, void, undefined> {
  let message: Message = { event: '', data: '' };
  for await (const line of lines) {
    if (line === '') {
      if (message.data !== '' || message.id !== undefined) yield message;
      message = { event: '', data: '' };
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') message.data += message.data === '' ? value : `\n${value}`;
    else if (field === 'event') message.event = value;
    else if (field === 'id') message.id = Number(value);
  }
}
