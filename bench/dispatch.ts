import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BenchOptions } from './support/bench.ts';
import { residentKiB, watchTree } from './support/process-tree.ts';
import type { Finding } from './support/table.ts';

const LINES = 20_000;
/** Lines before the first sample: the code gets compiled and the buffers reach their size. */
const WARM_UP = 5_000;
const MAX_MS = 1;
/** Largest growth that is not a leak: a leaking batch would keep hundreds of bytes for each line. */
const MAX_BYTES = 32;

/** The service's own cost per capture: one batch of 20,000 lines with a stub in place of the browsers. */
export async function dispatch({ report }: BenchOptions): Promise<readonly Finding[]> {
  const service = await startStubService();
  try {
    const batch = await openBatch(service.origin);
    await batch.exchange(WARM_UP);
    const heapBefore = await service.bytesAfterCollection();
    const residentBefore = residentKiB(service.pid);
    const startedAt = performance.now();
    const { cpuSeconds } = await watchTree(service.pid, () => batch.exchange(LINES - WARM_UP));
    const captures = LINES - WARM_UP;
    const ms = (performance.now() - startedAt) / captures;
    const residentAfter = residentKiB(service.pid);
    const heapAfter = await service.bytesAfterCollection();
    batch.end();

    const bytes = (heapAfter - heapBefore) / captures;
    report(`dispatch: ${captures} captures, ${residentBefore} to ${residentAfter} KiB resident`);
    return [
      {
        what: `dispatch of a capture in a batch of ${LINES} lines`,
        figure: `${ms.toFixed(3)} ms (${((cpuSeconds * 1000) / captures).toFixed(3)} ms of CPU)`,
        target: `< ${MAX_MS} ms`,
        met: ms < MAX_MS,
      },
      {
        what: 'heap and buffers in the middle of that batch, growth',
        figure: `${bytes.toFixed(1)} bytes/capture (${mebibytes(heapBefore)} to ${mebibytes(heapAfter)} MiB)`,
        target: `none: <= ${MAX_BYTES} bytes/capture`,
        met: bytes <= MAX_BYTES,
      },
    ];
  } finally {
    await service.stop();
  }
}

async function startStubService() {
  const child = spawn(
    process.execPath,
    [
      ...['--expose-gc', '--import', join(import.meta.dirname, 'support/heap-report.ts')],
      join(import.meta.dirname, 'support/dispatch-process.ts'),
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  const { pid, stdout } = child;
  if (pid === undefined || stdout === null) throw new Error('the stub has no process');
  const [origin] = await once(createInterface(stdout), 'line');
  return {
    origin: String(origin),
    pid,
    async bytesAfterCollection(): Promise<number> {
      child.send('heap');
      const [bytes] = await once(child, 'message');
      return Number(bytes);
    },
    async stop(): Promise<void> {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** A batch that stays open between exchanges. */
async function openBatch(origin: string) {
  const sent = request(`${origin}/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const responding = once(sent, 'response');
  sent.flushHeaders();
  const [response]: IncomingMessage[] = await responding;
  if (response?.statusCode !== 200) throw new Error(`the stub answered ${response?.statusCode}`);
  const answers = createInterface({ input: response })[Symbol.asyncIterator]();
  return {
    /** Sends this many lines and receives as many answers. */
    async exchange(count: number): Promise<void> {
      const sending = sendLines(sent, count);
      for (let left = count; left > 0; left -= 1) {
        const step = await answers.next();
        if (step.done === true || !step.value.includes('"error":null')) throw new Error(`no capture: ${step.value}`);
      }
      await sending;
    },
    end: () => sent.end(),
  };
}

async function sendLines(sent: ClientRequest, count: number): Promise<void> {
  for (let line = 0; line < count; line += 1) {
    const text = `${JSON.stringify({ url: `https://example.com/page/${line}?of=${count}`, format: 'webp' })}\n`;
    if (!sent.write(text)) await once(sent, 'drain');
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
