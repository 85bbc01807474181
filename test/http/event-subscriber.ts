import { z } from 'zod';

/** The fields that arrived between two blank lines. */
export interface Block {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: unknown;
  readonly comment: string | undefined;
}

export interface TestSubscriber {
  readonly response: Response;
  /** All blocks so far, in order. */
  readonly blocks: readonly Block[];
  /** Returns the next event, skipping comments. Rejects when the stream ends first. */
  event(): Promise<Block>;
  /** Returns the next `count` events. */
  take(count: number): Promise<readonly Block[]>;
  /** Returns the next block of any kind. */
  block(): Promise<Block>;
  /** Resolves when the server ends the stream. */
  ended(): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the server has sent the first block: from then on it sends events to this subscriber. */
export async function subscribe(url: string, headers: Record<string, string> = {}): Promise<TestSubscriber> {
  const hangUp = new AbortController();
  const response = await fetch(url, { headers, signal: hangUp.signal });
  if (response.status !== 200 || response.body === null) throw new Error(`answered ${response.status}`);
  const blocks: Block[] = [];
  const coming = parse(response.body);
  const block = async (): Promise<Block> => {
    const next = await coming.next();
    if (next.done === true) throw new Error('the stream ended');
    blocks.push(next.value);
    return next.value;
  };
  const event = async (): Promise<Block> => {
    for (;;) {
      const next = await block();
      if (next.event !== undefined) return next;
    }
  };
  await block();
  return {
    response,
    blocks,
    block,
    event,
    async take(count) {
      const events: Block[] = [];
      while (events.length < count) events.push(await event());
      return events;
    },
    async ended() {
      for (let next = await coming.next(); next.done !== true; next = await coming.next()) blocks.push(next.value);
    },
    async close() {
      hangUp.abort();
      await coming.return(undefined).catch(() => {});
    },
  };
}

async function* parse(body: ReadableStream<Uint8Array>): AsyncGenerator<Block, void> {
  let text = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      yield blockOf(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function blockOf(text: string): Block {
  const fields = new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const data = fields.get('data');
  return {
    id: fields.get('id'),
    event: fields.get('event'),
    data: data === undefined ? undefined : JSON.parse(data),
    comment: fields.get(''),
  };
}

const WithHost = z.object({ host: z.string() });

export function hostsOf(blocks: readonly Block[]): readonly string[] {
  return blocks.map(({ data }) => WithHost.parse(data).host);
}

export function typesOf(blocks: readonly Block[]): readonly (string | undefined)[] {
  return blocks.map(({ event }) => event);
}
