import { optionsTable } from '../src/config/flags.ts';

/* Prints the README's table of options; a test holds the README to it. */
process.stdout.write(`${optionsTable()}\n`);
