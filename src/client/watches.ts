import { type Ask, dataOf, listOf, type Post } from './answers.ts';
import type { Send } from './send.ts';
import type { CallOptions, ListedWatch, Watch, WatchConditions, WatchRequest, WatchRun, WatchValues } from './types.ts';

/** Pages that are captured again and again. */
export interface Watches {
  /** Begins to watch a page. */
  add(request: WatchRequest, options?: CallOptions): Promise<Watch>;
  get(id: number, options?: CallOptions): Promise<Watch>;
  /** Yields the watches, oldest first; reads a page of them when it is needed. */
  list(conditions?: CallOptions & WatchConditions): AsyncGenerator<ListedWatch, void, undefined>;
  /** Yields the runs of a watch that are kept, newest first. */
  history(id: number, options?: CallOptions): AsyncGenerator<WatchRun, void, undefined>;
  /** The values that its runs have read, newest first. */
  values(id: number, options?: CallOptions): AsyncGenerator<WatchValues, void, undefined>;
  /** Replaces fields of a watch; null removes one. */
  change(
    id: number,
    change: { readonly [F in keyof WatchRequest]?: WatchRequest[F] | null },
    options?: CallOptions,
  ): Promise<Watch>;
  pause(id: number, options?: CallOptions): Promise<Watch>;
  resume(id: number, options?: CallOptions): Promise<Watch>;
  /** Makes a run now. */
  run(id: number, options?: CallOptions): Promise<Watch>;
  /** Ends a watch. Its captures are kept. */
  remove(id: number, options?: CallOptions): Promise<void>;
}

export function watchesOf(send: Send, ask: Ask, post: Post): Watches {
  const command =
    (name: string) =>
    async (id: number, { signal }: CallOptions = {}): Promise<Watch> =>
      dataOf(ask(`/watches/${id}/${name}`, { method: 'POST', signal }));
  return {
    add: async (request, { signal } = {}) => dataOf(post('/watches', request, {}, signal)),
    get: async (id, call) => dataOf(ask(`/watches/${id}`, call)),
    list: ({ label, recent, ...call } = {}) => listOf(ask, '/watches', { label, recent }, call),
    history: (id, call = {}) => listOf(ask, `/watches/${id}/history`, {}, call),
    values: (id, call = {}) => listOf(ask, `/watches/${id}/values`, {}, call),
    change: async (id, change, call) =>
      dataOf(ask(`/watches/${id}`, { ...call, method: 'PATCH', body: JSON.stringify(change) })),
    pause: command('pause'),
    resume: command('resume'),
    run: command('run'),
    remove: async (id, call) => void (await send(`/watches/${id}`, { ...call, method: 'DELETE' })),
  };
}
