import { once } from 'node:events';
import { lockDatabase } from '../../test/faults/locked-database.ts';

/* Another process that holds SQLite's write lock on a file (the first argument) until its parent lets it go. */

const [, , path = ''] = process.argv;
using _ = lockDatabase(path);
process.send?.('locked');
await once(process, 'disconnect');
