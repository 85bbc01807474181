import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { median } from '../support/statistics.ts';
import { answering, CAPTURES_BESIDE, type ProcessFault } from './process-fault.ts';

const LINE = '{}\n';
const BYTES = 64 * 2 ** 20;
/**
 * Upper bounds of the median time that `/livez` takes meanwhile: this time, and on a busy machine this multiple of the
 * time before. Measured: 4 ms; 92 ms without bounds on lines.
 */
const MAX_LIVEZ = { ms: 50, timesBefore: 10 };
/** Pause between two requests of `/livez`. */
const PAUSE_MS = 20;

/** Batches of about 100 bytes that inflate to 22 million bad lines, or to 64 MiB of blanks. */
export const lineBomb: ProcessFault = {
  name: 'line bomb',
  prepare: async ({ site }) => {
    const bombs = [LINE.repeat(BYTES / LINE.length), ' '.repeat(BYTES)].map((text) =>
      brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    );
    return {
      run: async (service, answers) => {
        const capture = () => answers.capture(service.url, site.url('/short'));
        const beforeMs = median(await livezUntil(service.url, capture()));
        const captureBeside = async () => {
          for (let at = 0; at < CAPTURES_BESIDE; at += 1) await capture();
        };
        const bombsSent = Promise.all(bombs.map((bomb) => send(service.url, bomb)));
        const [besideMs] = await Promise.all([livezUntil(service.url, bombsSent).then(median), captureBeside()]);
        if (besideMs > Math.max(MAX_LIVEZ.ms, MAX_LIVEZ.timesBefore * beforeMs)) {
          answers.problems.push(
            `/livez beside a line bomb: median ${besideMs.toFixed()} ms, ${beforeMs.toFixed()} ms before`,
          );
        }
        await answering(service);
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};

/** Sends the batch. The answer may be long or broken off; both are correct. */
async function send(serviceUrl: string, body: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'br' };
  const response = await fetch(`${serviceUrl}/batch`, { method: 'POST', headers, body: new Uint8Array(body) });
  await response.text().catch(() => undefined);
}

/** Requests `/livez` until the work is done. Resolves with the time that each request took, in milliseconds. */
async function livezUntil(serviceUrl: string, work: Promise<unknown>): Promise<readonly number[]> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const took: number[] = [];
  const ask = async () => {
    while (!isDone) {
      const askedAt = performance.now();
      await (await fetch(`${serviceUrl}/livez`)).text();
      took.push(performance.now() - askedAt);
      await delay(PAUSE_MS);
    }
  };
  await Promise.all([done, ask()]);
  return took;
}
