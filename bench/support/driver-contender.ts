import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Contender } from './contender.ts';
import type { DriverOptions, Work } from './driver.ts';

export type DriverOrder =
  | { readonly type: 'open'; readonly options: DriverOptions }
  | { readonly type: 'run'; readonly urls: readonly string[]; readonly concurrency: number }
  | { readonly type: 'close' };

export type DriverAnswer =
  | { readonly type: 'done'; readonly work: Work | null }
  | { readonly type: 'failed'; readonly reason: string };

/** Returns a contender that runs a driver's module in a process of its own. */
export function driverContender(name: string, module: string, options: DriverOptions): Contender {
  return {
    name,
    async start() {
      const child = fork(join(import.meta.dirname, 'driver-process.ts'), [module], { serialization: 'advanced' });
      await order(name, child, { type: 'open', options });
      if (child.pid === undefined) throw new Error(`${name} has no process`);
      return {
        pid: child.pid,
        async run(urls, concurrency) {
          const work = await order(name, child, { type: 'run', urls, concurrency });
          if (work === null) throw new Error(`${name} did not say what it did`);
          return work;
        },
        async stop() {
          const gone = once(child, 'exit');
          await order(name, child, { type: 'close' });
          child.disconnect();
          await gone;
        },
      };
    },
  };
}

function order(name: string, child: ChildProcess, message: DriverOrder): Promise<Work | null> {
  return new Promise((resolve, reject) => {
    const settle = () => child.off('message', onAnswer).off('exit', onExit);
    const onAnswer = (answer: DriverAnswer) => {
      settle();
      if (answer.type === 'done') resolve(answer.work);
      else reject(new Error(`${name}: ${answer.reason}`));
    };
    const onExit = () => {
      settle();
      reject(new Error(`${name}: its process ended`));
    };
    child.on('message', onAnswer).on('exit', onExit);
    child.send(message);
  });
}
