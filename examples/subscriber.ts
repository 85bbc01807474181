/*
 * Prints captures as they end. After a disconnect it reconnects and replays the events that it missed.
 *
 *   node examples/subscriber.ts [http://127.0.0.1:8080] [--since <event id>]     (CAPSTAN_API_KEY: the key, if one is needed)
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { since: { type: 'string' } } });
const events = new URL(
  '/events?type=capture.stored,capture.failed,capture.timed_out',
  positionals[0] ?? 'http://127.0.0.1:8080',
);
const key = process.env.CAPSTAN_API_KEY;
let lastEventId = values.since;

for (;;) {
  try {
    const headers = { ...(key && { 'X-API-Key': key }), ...(lastEventId && { 'Last-Event-ID': lastEventId }) };
    const response = await fetch(events, { headers });
    if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
    let text = '';
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + part).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) receive(block);
    }
  } catch (error) {
    console.error(String(error instanceof Error ? (error.cause ?? error) : error));
  }
  await delay(1000);
}

/** Handles one block of lines: `id: ...`, `event: ...`, `data: ...` or a comment. */
function receive(block: string): void {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)));
  lastEventId = fields.id ?? lastEventId;
  if (fields.data === undefined) return;
  const { at, url, result, failure, text } = JSON.parse(fields.data);
  if (fields.event === 'gap') console.log(`${at}  (events are missing: ${text})`);
  else console.log(`${at}  ${url}  ${result?.screenshot || failure?.reason}`);
}
