import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { listening } from '../egress/listening.ts';

const MIB = 1024 * 1024;
const ZEROS = Buffer.alloc(256 * MIB);
const FAST_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Looks up an address in a separate process. Returns the name of the error and the peak memory growth in bytes. */
async function askInOwnProcess(port: number): Promise<{ readonly name: string; readonly grownBytes: number }> {
  const program = `
    import { IpapiClient } from ${JSON.stringify(join(import.meta.dirname, '../../src/ipinfo/mod.ts'))};
    const client = new IpapiClient({ baseUrl: 'http://127.0.0.1:${port}/', retries: 0 });
    const before = process.resourceUsage().maxRSS;
    const error = await client.getIPInfo('8.8.8.8').catch((thrown) => thrown);
    const grownBytes = (process.resourceUsage().maxRSS - before) * 1024;
    process.stdout.write(JSON.stringify({ name: error.name, grownBytes }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return JSON.parse(stdout);
}

describe('a decompression bomb', () => {
  it.each([
    ['gzip', () => gzipSync(ZEROS, { level: 1 })],
    ['br', () => brotliCompressSync(ZEROS, FAST_BROTLI)],
    ['zstd', () => zstdCompressSync(ZEROS)],
    ['gzip, gzip', () => gzipSync(gzipSync(ZEROS, { level: 1 }))],
  ])('rejects a bomb without decompressing all of it: %s', async (coding, pack) => {
    const bomb = pack();
    await using upstream = await listening(
      createServer((_request, response) => response.writeHead(200, { 'content-encoding': coding }).end(bomb)),
    );
    const { name, grownBytes } = await askInOwnProcess(upstream.port);
    expect(name).toBe('BodyTooLargeError');
    expect(grownBytes).toBeLessThan(64 * MIB);
  });
});
