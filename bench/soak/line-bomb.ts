import { brotliCompressSync, constants } from 'node:zlib';
import { answering, CAPTURES_BESIDE, type ProcessFault } from './process-fault.ts';

const LINE = '{}\n';
const BYTES = 64 * 2 ** 20;

/** Batches of about 100 bytes that inflate to 22 million bad lines, or to 64 MiB of blanks. */
export const lineBomb: ProcessFault = {
  name: 'line bomb',
  prepare: async ({ site }) => {
    const bombs = [LINE.repeat(BYTES / LINE.length), ' '.repeat(BYTES)].map((text) =>
      brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    );
    return {
      run: async (service, answers) => {
        const exploded = Promise.all(bombs.map((bomb) => send(service.url, bomb)));
        for (let count = 0; count < CAPTURES_BESIDE; count += 1) await answers.capture(service.url, site.url('/short'));
        await exploded;
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
