import { openDatabase } from '../watches/seeded-watches.ts';
import { openRig } from './rig.ts';

/*
 * Tells a callback of the changes of watches, as watches do: a run is finished when its event is stored, and the run
 * that was not is announced again. Arguments: a database, the log, the callback, the number of runs, and of each watch
 * of this process its next run, such as `3:1`. `DIE_AT`: when it kills itself, such as `after setCursor 2`, its second
 * call of that method of the store.
 */

const [place = '', log = '', callback = '', runs = '0', ...watches] = process.argv.slice(2);
// Until it is killed.
setInterval(() => undefined, 60_000);
const database = await openDatabase(place);
const [when, method, number = '1'] = (process.env.DIE_AT ?? '').split(' ');
let calls = 0;
const die = () => process.kill(process.pid, 'SIGKILL');
const store = new Proxy(database.openDeliveries(), {
  get: (of, name) => {
    const value = Reflect.get(of, name);
    if (name !== method) return value;
    return async (...given: unknown[]) => {
      calls += 1;
      const isLast = calls === Number(number);
      if (isLast && when === 'before') die();
      const answer = await Reflect.apply(value, of, given);
      if (isLast) die();
      return answer;
    };
  },
});
const rig = await openRig(database, { log, store });
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
