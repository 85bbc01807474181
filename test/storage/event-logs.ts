import type { EventEntry, EventLog, LoggedEvent } from '../../src/storage/ports/event-log.ts';

export interface Listening {
  readonly log: EventLog;
  /** Published events, in order. */
  readonly heard: readonly LoggedEvent[];
  /** Lower bound of the ids: events published from now on have greater ones. */
  readonly floor: number;
  /** Resolves when an event with this body was published. */
  hear(body: string): Promise<void>;
}

/** `onPublished`: called with the number of events that are published together. */
export async function listening(log: EventLog, onPublished = (_: number) => {}): Promise<Listening> {
  const heard: LoggedEvent[] = [];
  const waiting = new Map<string, () => void>();
  const floor = await log.start((events) => {
    onPublished(events.length);
    for (const event of events) {
      heard.push(event);
      waiting.get(event.body)?.();
    }
  });
  return {
    log,
    heard,
    floor,
    hear: (body) =>
      new Promise((resolve) => {
        if (heard.some((event) => event.body === body)) resolve();
        else waiting.set(body, resolve);
      }),
  };
}

export function entry(body: string): EventEntry {
  return { type: 'capture.queued', host: 'example.com', batch: null, body };
}

export function bodies(events: readonly LoggedEvent[]): readonly string[] {
  return events.map(({ body }) => body);
}

/** Returns the reason of each gap, and the body of each other event. */
export function gist(events: readonly LoggedEvent[]): readonly string[] {
  return events.map(({ type, body }) => (type === 'gap' ? `gap: ${JSON.parse(body).reason}` : body));
}

export function isGrowing(events: readonly LoggedEvent[]): boolean {
  return events.every(({ id }, index) => id > (events[index - 1]?.id ?? 0));
}

/** Reads all events after an id, page by page. */
export async function readAll(log: EventLog, after: number, limit = 7): Promise<readonly LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const page = await log.read(cursor, limit);
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined) return all;
    cursor = last.id;
  }
}
