import { registerHooks } from 'node:module';

/*
 * Imported before a service starts that is to be measured without metrics: `tallyEvents` then counts no event. The
 * service itself has no such switch.
 */

const SUBSCRIBES = 'events$.subscribe(';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith('/src/metrics/tallies.ts')) return loaded;
    const source = String(loaded.source);
    if (source.split(SUBSCRIBES).length !== 2) throw new Error(`${url} subscribes to the events in another way`);
    return { ...loaded, source: source.replace(SUBSCRIBES, '((_: (event: CapstanEvent) => void) => {})(') };
  },
});
