import { describe, expect, it } from 'vitest';
import { CapstanError, ConfigError, captureRequest, createService } from '../src/mod.ts';
import { NO_BROWSER } from './support/service.ts';
import { makeDirectory } from './support/temporary-directory.ts';

describe('captureRequest', () => {
  it('fills in defaults as POST /screenshot does', () => {
    expect(captureRequest('example.com')).toMatchObject({
      target: { url: 'https://example.com', host: 'example.com', schemeAssumed: true },
      fullPage: false,
      format: 'png',
      quality: 80,
      timeoutMs: 30_000,
      waitUntil: 'settled',
    });
    expect(captureRequest('http://example.com/a', { format: 'webp', timeoutMs: 500 })).toMatchObject({
      target: { url: 'http://example.com/a' },
      format: 'webp',
      timeoutMs: 500,
    });
  });

  it('names every invalid field', () => {
    const make = () => captureRequest(' ', { quality: 101 });
    expect(make).toThrow(CapstanError);
    expect(make).toThrow(/^url: .*; quality: must be an integer from 1 to 100$/);
    const headers = JSON.parse('{"__proto__":"1"}');
    expect(() => captureRequest('x.com', { headers })).toThrow(/^headers\.__proto__: is not an accepted name/);
  });
});

describe('createService of the library', () => {
  it('takes some options, has defaults for the rest, and ignores the environment', async () => {
    const dataDir = await makeDirectory();
    process.env.CAPSTAN_MAX_QUEUE = '3';
    const service = await createService({ ...NO_BROWSER, dataDir, maxConcurrent: 2, mongoUrl: undefined });
    expect(service.stats().queue).toMatchObject({ max_concurrent: 2, max_queue: 1000 });
    expect(service.takesCallbacks).toBe(false);
    await service.stop();
    delete process.env.CAPSTAN_MAX_QUEUE;
  });

  it('refuses invalid options and names the accepted values', async () => {
    await expect(createService({ maxQueue: -1 })).rejects.toThrow(
      new ConfigError(
        '--max-queue -1 (from the program) is not valid; it takes an integer from 0 to 1000000 (captures)',
      ),
    );
    await expect(createService({ dbPath: 'a.db', mongoUrl: 'mongodb://h/d' })).rejects.toThrow(/^two databases/);
    const misspelt: object = { maxQueu: 1 };
    await expect(createService(misspelt)).rejects.toThrow(
      /^there is no option "maxQueu"; did you mean maxQueue\?; there are host, /,
    );
  });
});
