import { describe, expect, it } from 'vitest';
import { OPTIONS } from '../../src/config/mod.ts';
import { createLogger, type Logger } from '../../src/log/log.ts';

async function logged(readable: boolean, log: (logger: Logger) => void): Promise<string> {
  let text = '';
  const writer = {
    write: (line: string) => {
      text += line;
    },
    flushSync: () => {},
  };
  log(await createLogger('info', writer, readable));
  return text;
}

/** Returns a value for each secret option that shows its secret unless it is masked. */
const SECRETS = Object.fromEntries(
  OPTIONS.filter(({ secret }) => secret !== undefined).map(({ name, kind, secret }) => {
    const value = secret === 'url' ? 'https://me:hush@example.com/?key=hush' : 'hush';
    return [name, kind === 'list' ? [value] : value];
  }),
);
const HEADERS = {
  authorization: 'Bearer hush',
  'x-api-key': 'hush',
  'proxy-authorization': 'hush',
  cookie: 'session=hush',
  'set-cookie': ['session=hush'],
};

describe('createLogger', () => {
  it('writes a JSON line for each event at or above its level', async () => {
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

  it('writes readable lines on request', async () => {
    const text = await logged(true, (logger) => logger.warn({ capture_id: 7 }, 'took long'));
    expect(text).toContain('took long');
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it('writes readable lines without characters of pages that a terminal obeys', async () => {
    const text = await logged(true, (logger) => logger.warn({ err: new Error('a\u001b[2Jb\u009bc'), host: '\u009bd' }));
    expect(text).toContain('Error: ab\n');
    expect(text).not.toContain('\u001b[2J');
    expect(text).not.toContain('\u009b');
  });

  it.each([false, true])('masks the value of every secret option and header (readable: %s)', async (readable) => {
    const text = await logged(readable, (logger) => {
      logger.info({ ...SECRETS, ...HEADERS }, 'in the line itself');
      logger.info({ config: SECRETS, headers: HEADERS }, 'one level down');
      logger.info({ req: { headers: HEADERS }, request: { headers: HEADERS } }, 'two levels down');
    });
    for (const place of ['in the line itself', 'one level down', 'two levels down']) expect(text).toContain(place);
    for (const name of Object.keys(SECRETS)) expect(text).toContain(name);
    expect(text).not.toContain('hush');
  });

  it('shows the parts of a URL option that are not secret', async () => {
    const text = await logged(false, (logger) =>
      logger.info({ config: { mongoUrl: 'mongodb://me:hush@db.example/c' } }),
    );
    expect(JSON.parse(text).config).toEqual({ mongoUrl: 'mongodb://me:***@db.example/c' });
  });
});
