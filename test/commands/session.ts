import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll } from 'vitest';
import type { Ended } from './capstan-process.ts';

const PROGRAM = join(import.meta.dirname, 'session-program.ts');

type RunInSession = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;

/**
 * Returns what runs the command lines of a suite, one after the other, in one process: starting a process takes ten
 * times as long as a command that is refused.
 */
export function sessionForSuite(): RunInSession {
  let session: ChildProcessByStdio<Writable, Readable, Readable>;
  let printed: AsyncGenerator<string, void, undefined>;
  let complained: AsyncGenerator<string, void, undefined>;
  let closed: Promise<unknown>;

  beforeAll(() => {
    session = spawn(process.execPath, ['--no-warnings', PROGRAM], { stdio: 'pipe' });
    closed = once(session, 'close');
    // When the program has ended, its outputs have, too, and the caller is told so.
    session.stdin.on('error', () => {});
    printed = pieces(session.stdout);
    complained = pieces(session.stderr);
  });
  afterAll(async () => {
    session.stdin.end();
    await closed;
  });

  return async (args, env = {}) => {
    session.stdin.write(`${JSON.stringify({ args, env })}\n`);
    const [stdout, stderr, code] = await Promise.all([printed.next(), complained.next(), complained.next()]);
    if (code.done) throw new Error(`the session ended before it had run: ${args.join(' ')}`);
    return { code: Number(code.value), stdout: stdout.value ?? '', stderr: stderr.value ?? '' };
  };
}

/** Splits a stream at its zero bytes. */
async function* pieces(stream: Readable): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const [last = '', ...whole] = `${rest}${chunk}`.split('\0').reverse();
    rest = last;
    yield* whole.reverse();
  }
}
