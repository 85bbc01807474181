import { setTimeout as delay } from 'node:timers/promises';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { createWatches } from '../../src/watches/watches.ts';

/*
 * A process that runs the watches of a database until it is killed, and prints the id of each run's host before and after
 * it. Its pages cannot be reached. Arguments: the database file, and by how many milliseconds its clock is ahead.
 */

const [path = '', ahead = '0'] = process.argv.slice(2);
const database = await openSqlite({ path });
const none = () => Promise.resolve(undefined);

createWatches({
  store: database.watches,
  enabled: true,
  screen: () => undefined,
  serves: () => true,
  capture: async ({ target }) => {
    process.stdout.write(`begun ${target.parsed.pathname.slice(1)}\n`);
    await delay(20);
    return { state: 'failed', failure: { code: 'target_unreachable', reason: 'no answer' }, result: null };
  },
  remove: () => Promise.resolve(),
  announce: ({ type, url }) => {
    if (type === 'watch.run') process.stdout.write(`told ${new URL(url).pathname.slice(1)}\n`);
  },
  artifacts: { info: none, record: none },
  comparisons: { of: none },
  atOnce: () => 8,
  ids: () => {
    throw new Error('adds no watches');
  },
  clock: () => Date.now() + Number(ahead),
  report: (error) => {
    throw error;
  },
});
