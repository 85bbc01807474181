import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { clientOf, describeWithS3, s3Options } from '../support/s3.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const COUNT = 40;
/** Growth of the memory in use that counts as flat, in MB: two of the captures. */
const FLAT_MB = 50;

describeWithS3('large captures in an object store', (server) => {
  it(`stores ${COUNT} captures of 20 MB with a flat heap`, { timeout: 600_000 }, async () => {
    const client = await clientOf(server, 'large');
    const directory = await makeDirectory();
    const places = { dataDir: join(directory, 'data'), dbPath: join(directory, 'results.db') };
    const script = join(import.meta.dirname, 's3-large-captures.ts');
    const options = JSON.stringify({ ...places, ...s3Options(server, 'large') });
    const child = spawn(process.execPath, ['--no-warnings', '--expose-gc', script, options, String(COUNT)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [first = 0, ...later] = (await text(child.stdout)).trim().split('\n').map(Number);
    expect(later).toHaveLength(COUNT / 10 - 1);
    expect(Math.max(...later)).toBeLessThan(first + FLAT_MB);
    const pages = await Array.fromAsync(client.list('captures/'));
    const images = pages.flatMap(({ objects }) => objects).filter(({ bytes }) => bytes === 20_000_000);
    expect(images).toHaveLength(COUNT);
    client.close();
  });
});
