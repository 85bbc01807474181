import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export type SubscribersOrder =
  | ({ readonly type: 'open'; readonly origin: string } & Audience)
  | { readonly type: 'count' }
  | { readonly type: 'close' };

export interface Audience {
  readonly reading: number;
  /**
   * How many of them one stands for that reads at once. The others lie there until they are looked at, every two
   * seconds, and lose nothing: what a subscriber's own machine spends on reading is then not spent on this one.
   */
  readonly oneInReads: number;
  /** Those who read what comes first, and nothing more. */
  readonly stalled: number;
}

/** What came since they were opened. */
export interface SubscribersAnswer {
  /** At index n: how many stored captures were received n milliseconds after they were stored, by who reads at once. */
  readonly delays: readonly number[];
  readonly deliveries: number;
  /** How often one that reads at once found something to read: what a socket costs, it costs each time. */
  readonly reads: number;
}

export interface Subscribers {
  /** Resolves when each has its first bytes. */
  open(origin: string, audience: Audience): Promise<void>;
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
    open: async (origin, audience) => {
      await order({ type: 'open', origin, ...audience });
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
