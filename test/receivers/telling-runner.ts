import { openDatabase } from '../watches/seeded-watches.ts';
import { startRig } from './rig.ts';

/*
 * Tells a callback of the changes of watches, as watches do: a run is finished when its event is stored, and the run that
 * was not is announced again. Arguments: a database, the file of the log, the callback, and the next run of each watch.
 */

const [place = '', log = '', callback = '', ...next] = process.argv.slice(2);
const RUNS = 100;
// Until it is killed.
setInterval(() => undefined, 60_000);
const rig = await startRig(await openDatabase(place), { log });
process.stdout.write('started\n');
await Promise.all(
  next.map(async (first, watch) => {
    for (let run = Number(first); run <= RUNS; run += 1) {
      rig.watch(watch + 1, run, { callback });
      await rig.stored();
      process.stdout.write(`finished ${watch} ${run}\n`);
    }
  }),
);
