import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { ground } from '../commands/capstan-process.ts';

async function logged(readable: boolean, log: (logger: ReturnType<typeof createLogger>) => void): Promise<string> {
  await using place = await ground();
  const file = join(place.path, 'log');
  const fd = openSync(file, 'w');
  log(createLogger('info', { fd, readable }));
  closeSync(fd);
  return readFileSync(file, 'utf8');
}

describe('createLogger', () => {
  it('writes a line of JSON for each event, at once', async () => {
    const text = await logged(false, (logger) => {
      logger.info({ request_id: 'r1', capture_id: 7 }, 'stored');
      logger.debug('below the level');
    });
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([expect.objectContaining({ level: 30, request_id: 'r1', capture_id: 7, msg: 'stored' })]);
  });

  it('writes for people when it is told to', async () => {
    const text = await logged(true, (logger) => logger.warn({ capture_id: 7 }, 'took long'));
    expect(text).toContain('took long');
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it.each([false, true])('masks what may hold a key (readable: %s)', async (readable) => {
    const secrets = { apiKey: ['hush'], mongoUrl: 'mongodb://me:hush@h', ipinfoKey: 'hush' };
    const headers = { authorization: 'Bearer hush', 'x-api-key': 'hush', 'proxy-authorization': 'hush' };
    const text = await logged(readable, (logger) => {
      logger.info({ ...secrets, ...headers }, 'at the top');
      logger.info({ config: secrets, headers }, 'one down');
      logger.info({ req: { headers }, request: { headers } }, 'two down');
    });
    expect(text).toContain('two down');
    expect(text).not.toContain('hush');
  });
});
