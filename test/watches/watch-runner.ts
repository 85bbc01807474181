import { setTimeout as delay } from 'node:timers/promises';
import { createWatches } from '../../src/watches/watches.ts';
import { openDatabase } from './seeded-watches.ts';

/*
 * A process that runs the watches of a database until it is killed, and prints each run before and after it. Its pages
 * cannot be reached. Arguments: the database, by how many milliseconds its clock is ahead, and how many of its
 * captures end.
 */

const [place = '', ahead = '0', ending = 'Infinity'] = process.argv.slice(2);
const database = await openDatabase(place);
const none = () => Promise.resolve(undefined);
let captures = 0;
const clock = () => Date.now() + Number(ahead);
// Lasts also while nothing is due.
setInterval(() => undefined, 60_000);

createWatches({
  store: database.watches,
  enabled: true,
  screen: () => undefined,
  serves: () => true,
  capture: async ({ target }) => {
    process.stdout.write(`begun ${target.parsed.pathname.slice(1)} ${clock()}\n`);
    captures += 1;
    if (captures > Number(ending)) await new Promise(() => {});
    await delay(20);
    return { state: 'failed', failure: { code: 'target_unreachable', reason: 'no answer' }, result: null };
  },
  remove: () => Promise.resolve(),
  eventsStored: () => Promise.resolve(),
  announce: ({ type, url, run }) => {
    if (type === 'watch.run') process.stdout.write(`told ${new URL(url).pathname.slice(1)} ${Date.parse(run.due)}\n`);
  },
  artifacts: { info: none, record: none, open: none },
  comparisons: { of: none },
  atOnce: () => 8,
  ids: () => {
    throw new Error('adds no watches');
  },
  clock,
  report: (error) => {
    throw error;
  },
});
