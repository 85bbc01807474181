import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export type SubscribersOrder =
  | { readonly type: 'open'; readonly origin: string; readonly reading: number; readonly stalled: number }
  | { readonly type: 'count' }
  | { readonly type: 'close' };

/** What came since they were opened. */
export interface SubscribersAnswer {
  /** At index n: how many stored captures were received n milliseconds after they were stored. */
  readonly delays: readonly number[];
  readonly deliveries: number;
  /** How often one of them found something to read: what a socket costs, it costs each time. */
  readonly reads: number;
}

export interface Subscribers {
  /** Resolves when each has its first bytes. `stalled` ones read those and nothing more. */
  open(origin: string, reading: number, stalled: number): Promise<void>;
  count(): Promise<SubscribersAnswer>;
  close(): Promise<SubscribersAnswer>;
  stop(): Promise<void>;
}

/** Subscribers to `/events`, all of them in one process of their own. */
export function startSubscribers(): Subscribers {
  const child = fork(join(import.meta.dirname, 'subscribers-process.ts'));
  const order = async (message: SubscribersOrder): Promise<SubscribersAnswer> => {
    const answered = once(child, 'message');
    child.send(message);
    const [answer] = await answered;
    return answer;
  };
  return {
    open: async (origin, reading, stalled) => {
      await order({ type: 'open', origin, reading, stalled });
    },
    count: () => order({ type: 'count' }),
    close: () => order({ type: 'close' }),
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
