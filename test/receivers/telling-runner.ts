import { openDatabase } from '../watches/seeded-watches.ts';
import { openRig } from './rig.ts';

/*
 * Tells a callback of the changes of watches, as watches do: a run is finished when its event is stored, and the run
 * that was not is announced again. Arguments: a database, the log, the callback, the number of runs, and of each watch
 * of this process its next run, such as `3:1`.
 */

const [place = '', log = '', callback = '', runs = '0', ...watches] = process.argv.slice(2);
// Until it is killed.
setInterval(() => undefined, 60_000);
const rig = await openRig(await openDatabase(place), { log });
process.stdout.write('started\n');
await Promise.all(
  watches.map(async (next) => {
    const [watch = 0, first = 0] = next.split(':').map(Number);
    for (let run = first; run <= Number(runs); run += 1) {
      rig.watch(watch, run, { callback });
      await rig.stored();
      process.stdout.write(`finished ${watch} ${run}\n`);
    }
  }),
);
