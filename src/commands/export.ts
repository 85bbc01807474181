import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { databaseOf } from '../capture/artifacts/artifacts.ts';
import { CapstanError } from '../capture/errors.ts';
import { conditionFields, conditionsSchema, type ResultConditions } from '../capture/finding/result-conditions.ts';
import { overHttp, readTarget } from '../capture/target.ts';
import { parseOrRefuse } from '../capture/validate.ts';
import { addConfigFlags, PLACES } from '../config/flags.ts';
import { ConfigError } from '../config/mod.ts';
import { flagOf } from '../config/options.ts';
import { hostPrefix } from '../http/request/parameters.ts';
import type { ResultFilter } from '../storage/ports/result-store.ts';
import { refuseFullDirectory } from './full-directory.ts';
import { processConfig } from './process-config.ts';

export function registerExportCommand(program: Command): void {
  const command = program
    .command('export')
    .description('Write stored captures to a folder of pages with thumbnails, which opens without a service.')
    .requiredOption('--html <dir>', 'directory of the pages; it must be new or empty')
    .option('--host <host>', 'only captures of hosts that start with this, and of its subdomains')
    .option('--url <url>', 'only captures of this URL');
  for (const [name, schema] of Object.entries(conditionFields)) {
    command.option(
      `${flagOf(name)} <value>`,
      `only captures with this condition: ${z.globalRegistry.get(schema)?.description ?? ''}`,
    );
  }
  addConfigFlags(command, PLACES).action(async (flags: Readonly<Record<string, unknown>>) => {
    // The host of captures, not the one that a service listens on.
    const { host: _, ...own } = flags;
    const config = processConfig(own);
    const { dbPath } = config;
    if (databaseOf(config) === undefined) throw new ConfigError('export needs --db-path or --mongo-url');
    if (dbPath !== null && !existsSync(dbPath)) {
      throw new ConfigError(`--db-path takes the database of a service, and ${dbPath} does not exist`);
    }
    const filter = filterOf(flags);
    const directory = String(flags.html);
    await refuseFullDirectory('--html', directory);
    const [{ using }, { exportHtml }] = await Promise.all([
      import('../storage/maintenance/places.ts'),
      import('../archive/export-html.ts'),
    ]);
    const { captures, thumbnails, pages } = await using(config, ({ database, artifacts }) =>
      exportHtml(database.results, artifacts, filter, directory),
    );
    process.stdout.write(`exported ${captures} captures, ${thumbnails} thumbnails, ${pages} pages to ${directory}\n`);
  });
}

/** @throws ConfigError that names the flag. */
function filterOf({ host, url, ...flags }: Readonly<Record<string, unknown>>): ResultFilter {
  const where = conditionsOf(flags);
  if (host !== undefined && url !== undefined) throw new ConfigError('--url cannot be combined with --host');
  if (host !== undefined) return { by: 'host', host: hostOf(host), where };
  if (url === undefined) return { by: 'all', where };
  const reading = readTarget(String(url));
  if (!reading.ok) throw new ConfigError(`--url ${JSON.stringify(url)} ${reading.problem}`);
  return { by: 'url', url: reading.target.url, orUrl: overHttp(reading.target), where };
}

function hostOf(text: unknown): string {
  const parsed = hostPrefix.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`--host ${parsed.error.issues[0]?.message}`);
}

function conditionsOf(flags: Readonly<Record<string, unknown>>): ResultConditions {
  try {
    return parseOrRefuse(conditionsSchema, flags);
  } catch (error) {
    const [problem] = error instanceof CapstanError ? error.problems : [];
    throw problem === undefined
      ? error
      : new ConfigError(`${flagOf(problem.path)} ${problem.message}, not ${JSON.stringify(flags[problem.path])}`);
  }
}
