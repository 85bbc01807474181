import { optionsTable } from '../src/config/flags.ts';

/* Prints the table of service options for docs/options.md; a test fails when that one is stale. */
process.stdout.write(`${optionsTable()}\n`);
