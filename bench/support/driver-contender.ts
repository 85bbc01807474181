import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DriverOptions } from './driver.ts';
import type { Contender } from './rounds.ts';

export interface DriverOrder {
  readonly urls: readonly string[];
  readonly concurrency: number;
}

export type DriverAnswer = { readonly captured: number } | { readonly failed: string };

/** Returns a contender that runs a driver's module, a path from `bench/`, in a process of its own. */
export function driverContender(name: string, module: string, options: DriverOptions): Contender {
  return {
    name,
    async start() {
      const path = join(import.meta.dirname, '..', module);
      const child = fork(join(import.meta.dirname, 'driver-process.ts'), [path, JSON.stringify(options)]);
      const answered = async (): Promise<number> => {
        const settled = new AbortController();
        const next = (event: string) => once(child, event, { signal: settled.signal });
        const first = Promise.race([next('message'), next('exit').then(() => [{ failed: 'its process ended' }])]);
        const [answer]: DriverAnswer[] = await first.finally(() => settled.abort());
        if (answer === undefined || 'failed' in answer) throw new Error(`${name}: ${answer?.failed}`);
        return answer.captured;
      };
      await answered();
      if (child.pid === undefined) throw new Error(`${name} has no process`);
      return {
        pid: child.pid,
        run(urls, concurrency) {
          child.send({ urls, concurrency } satisfies DriverOrder);
          return answered();
        },
        async [Symbol.asyncDispose]() {
          const gone = once(child, 'exit');
          child.disconnect();
          await gone;
        },
      };
    },
  };
}
