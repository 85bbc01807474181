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
   * One in this many subscribers reads at once. The others are read every two seconds and lose nothing. This keeps the
   * cost of reading low, which in production the subscribers' own machines would bear.
   */
  readonly oneInReads: number;
  /** Subscribers that read the first bytes and nothing more. */
  readonly stalled: number;
}

/** Deliveries since the subscribers connected. */
export interface SubscribersAnswer {
  /**
   * At index n: the number of stored captures that a watched subscriber received n milliseconds after they were stored.
   */
  readonly delays: readonly number[];
  readonly deliveries: number;
  /** Number of reads of the watched subscribers that returned data: each one has the full cost of a socket. */
  readonly reads: number;
}

export interface Subscribers {
  /** Resolves when every subscriber has received its first bytes. */
  open(origin: string, audience: Audience): Promise<void>;
  count(): Promise<SubscribersAnswer>;
  close(): Promise<SubscribersAnswer>;
  stop(): Promise<void>;
}

/** Connects subscribers to `/events`, all in one process of their own. */
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
