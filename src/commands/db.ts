import { type Command, Option } from 'commander';
import { ARTIFACT_STORE_KINDS } from '../capture/artifacts/artifacts.ts';
import { addConfigFlags, PLACES } from '../config/flags.ts';
import { processConfig } from './process-config.ts';

type Flags = Readonly<Record<string, unknown>>;

/** `capstan db`: maintains the stored data of a service, running or stopped. */
export function registerDbCommand(program: Command): void {
  const db = program.command('db').description('Check, back up, restore or rebuild the database.');

  const add = (name: string, description: string): Command =>
    addConfigFlags(db.command(name).description(description), PLACES);

  add(
    'check',
    'Compare records and files, in the data directory, GridFS or the object store, and check the SQLite file. Exit code 1 when there are problems.',
  )
    .option('--contents', 'Also read every file, and compare its SHA-256 with that of the record.')
    .action(async ({ contents, ...flags }: Flags) => {
      const { checkDatabase } = await import('../storage/maintenance/maintenance.ts');
      const problems = await checkDatabase(processConfig(flags), print, contents === true);
      print(problems === 0 ? 'no problems found' : `${problems} problems`);
      if (problems > 0) process.exitCode = 1;
    });
  add(
    'backup <file>',
    'Write a copy of the SQLite database, which may be in use. Files of captures are not copied. MongoDB, captures in GridFS included: use mongodump.',
  ).action(async (file: string, flags: Flags) => {
    const { backupDatabase } = await import('../storage/maintenance/maintenance.ts');
    await backupDatabase(processConfig(flags), file);
    print(`backed up to ${file}`);
  });
  add(
    'restore <file>',
    'Replace the SQLite database with a copy. A running service switches to it. MongoDB: use mongorestore.',
  ).action(async (file: string, flags: Flags) => {
    const { restoreDatabase } = await import('../storage/maintenance/maintenance.ts');
    const aside = restoreDatabase(processConfig(flags), file);
    print(`restored from ${file}${movedTo(aside)}`);
  });
  add(
    'rebuild',
    'Write the record of every capture, stored or failed, in the data directory, GridFS or the object store, that the database does not have.',
  ).action(async (flags: Flags) => {
    const { rebuildDatabase } = await import('../storage/maintenance/maintenance.ts');
    const { written, unreadable, aside } = await rebuildDatabase(processConfig(flags), print);
    print(`${written} records written${movedTo(aside)}`);
    if (unreadable > 0) process.exitCode = 1;
  });
  add(
    'index',
    'Index the words of captures that were made without --index-words, from their stored text or HTML, and repair the index. Can be interrupted and run again; the service may be running.',
  ).action(async (flags: Flags) => {
    const { indexWords } = await import('../storage/maintenance/index-words.ts');
    const { added, unreadable } = await indexWords(processConfig(flags), print);
    print(`words of ${added} captures indexed`);
    if (unreadable > 0) process.exitCode = 1;
  });
  add(
    'move',
    'Move the captures of the other stores that the options name to another one, while the service runs with that. Repeat it to continue.',
  )
    .addOption(
      new Option('--to <store>', 'The store that captures are moved to.')
        .choices(ARTIFACT_STORE_KINDS)
        .makeOptionMandatory(),
    )
    .action(async ({ to, ...flags }: Flags) => {
      const { moveCaptures } = await import('../storage/maintenance/move.ts');
      const { captures, left } = await moveCaptures(processConfig({ ...flags, artifacts: to }), print);
      print(`${captures} captures moved`);
      if (left > 0) process.exitCode = 1;
    });
}

function movedTo(aside: string | undefined): string {
  return aside === undefined ? '' : `; the previous database is now ${aside}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
