import { once } from 'node:events';
import { lockDatabase } from '../../test/faults/locked-database.ts';

/* Holds SQLite's write lock on a file (the first argument) until the parent process disconnects. */

const [, , path = ''] = process.argv;
using _ = lockDatabase(path);
process.send?.('locked');
await once(process, 'disconnect');
