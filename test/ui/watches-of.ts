import { afterEach, expect } from 'vitest';
import { z } from 'zod';
import { WatchSchema } from '../../src/capture/work/watch.ts';
import type { UiForSuite } from './ui-service.ts';

const One = z.object({ data: WatchSchema });
const Many = z.object({ data: z.array(WatchSchema) });

/** Returns the watches of a suite's service, which are deleted after each test. */
export function watchesOf(ui: UiForSuite) {
  const all = async () => Many.parse(await (await ui.app.call('/watches')).json()).data;
  const read = async (id: number) => One.parse(await (await ui.app.call(`/watches/${id}`)).json()).data;
  afterEach(async () => {
    for (const { id } of await all()) await ui.app.call(`/watches/${id}`, { method: 'DELETE' });
  });
  return {
    all,
    read,
    /** Adds a watch that runs by hand alone, and waits for its first run. */
    async add(body: object): Promise<number> {
      const response = await ui.app.post('/watches', { every: '300d', confirm: false, ...body });
      const { id } = One.parse(await response.json()).data;
      await expect.poll(async () => (await read(id)).runs).toBe(1);
      return id;
    },
    /** Runs a watch, and returns its last run. */
    async run(id: number) {
      const { runs } = await read(id);
      await ui.app.post(`/watches/${id}/run`, undefined);
      await expect.poll(async () => (await read(id)).runs).toBe(runs + 1);
      return (await read(id)).last_run;
    },
  };
}
