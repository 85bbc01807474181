import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Ground, Served } from './capstan-process.ts';

const Stats = z.object({ data: z.object({ log: z.object({ dropped: z.number() }) }) });

/** Part of the URL, which makes the access log long. */
const LONG_PATH = `/${'x'.repeat(50_000)}`;

/** A pipe whose content stays unread until `read` is called. */
export interface UnreadPipe extends Disposable {
  readonly writeFd: number;
  /** Returns the content of the pipe. */
  read(): string;
  /** Closes the reading end. */
  hangUp(): void;
}

/**
 * Creates a pipe for the log of a service. The two ends are opened separately, because a child process makes its end
 * blocking.
 */
export function makePipe({ path: directory }: Pick<Ground, 'path'>): UnreadPipe {
  const path = join(directory, 'stderr');
  execFileSync('mkfifo', [path]);
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeFd = openSync(path, constants.O_WRONLY);
  const buffer = Buffer.alloc(64 * 1024);
  return {
    writeFd,
    read: () => {
      let text = '';
      try {
        for (let bytes = -1; bytes !== 0; ) {
          bytes = readSync(readFd, buffer);
          text += buffer.toString('utf8', 0, bytes);
        }
      } catch {
        // The pipe is empty.
      }
      return text;
    },
    hangUp: () => closeSync(readFd),
    [Symbol.dispose]: () => closeSync(writeFd),
  };
}

/** Returns how many lines of its log a service has dropped. */
export async function dropped({ url }: Served): Promise<number> {
  return Stats.parse(await (await fetch(`${url}/stats`)).json()).data.log.dropped;
}

/** Sends requests with long paths until the service drops lines of its log. */
export async function askUntilLinesAreDropped(service: Served): Promise<void> {
  do await fetch(service.url + LONG_PATH);
  while ((await dropped(service)) === 0);
}
