import { once } from 'node:events';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { JOB_ID } from '../../capture/work/job.ts';
import { type ScanSettings as Parsed, scanFields } from '../../capture/work/scan.ts';
import type { CapstanClient, Job, Scan, ScanSettings } from '../../client/mod.ts';
import { collect } from '../../config/flags.ts';
import { ConfigError } from '../../config/mod.ts';
import { flagOf } from '../../config/options.ts';
import { codeOfEnd } from '../ending.ts';
import { refuseFullDirectory } from '../full-directory.ts';
import { addPageFlags, readPageFlags, withClient } from '../serve/server-flags.ts';
import { makeFolderOf } from '../shot/shot-files.ts';
import { reportLines, scanInputs, targetLines } from './scan-input.ts';
import { type OutputForm, outputHead, outputLine, startProgress } from './scan-output.ts';
import { writeReport } from './scan-report.ts';

type Flags = Readonly<Record<string, unknown>>;

/** Fields of a scan that are numbers. */
const NUMBERS: readonly string[] = ['perHost', 'sameHostDelayMs', 'concurrency'];

export function registerScanCommand(program: Command): void {
  const command = program
    .command('scan')
    .description(
      'Capture the targets of lists: hosts, networks, the output of nmap or masscan, sitemaps. A line for each.',
    )
    .argument(
      '[target...]',
      'URL, host, host:port, address, network (10.0.0.0/24) or range (10.0.0.1-20); - reads a list from standard input',
    )
    .option(
      '--list <file>',
      'file of targets: one on each line, the XML of nmap, the JSON of masscan, a sitemap, or CSV with a column url; gzip too',
      collect,
    );
  for (const [name, schema] of Object.entries(scanFields)) {
    command.option(`${flagOf(name)} <value>`, z.globalRegistry.get(schema)?.description ?? '');
  }
  command
    .addOption(new Option('--dir <dir>', 'directory of the captures, without --server').default('capstan-scan'))
    .option('--resume [id]', 'go on with the newest scan of --dir or --server, or the one with this id')
    .option(
      '--report <dir>',
      'directory of pages with the captures, those that look alike folded into one; new or empty',
    )
    .option('--json', 'write a JSON object for each target')
    .option('--csv', 'write a table for spreadsheets');
  addPageFlags(command).action(scan);
}

async function scan(targets: readonly string[], flags: Flags): Promise<void> {
  const { options, ...service } = readPageFlags(flags);
  const form = outputForm(flags);
  const { given, parsed } = settingsOf(flags);
  const lists = z.array(z.string()).default([]).parse(flags.list);
  const isResumed = flags.resume !== undefined;
  if (isResumed && targets.length + lists.length + Object.keys({ ...given, ...options }).length > 0) {
    throw new ConfigError('--resume takes the list and the options of its scan: give none beside it');
  }
  if (typeof flags.resume === 'string' && !JOB_ID.test(flags.resume)) {
    const given = JSON.stringify(flags.resume);
    throw new ConfigError(`--resume takes the id of a scan, or nothing for the newest, not ${given}`);
  }
  const inputs = isResumed ? [] : scanInputs(targets, lists);
  const report = flags.report === undefined ? undefined : String(flags.report);
  if (report !== undefined) await refuseFullDirectory('--report', report);
  const dir = String(flags.dir);
  if (service.server === undefined) await makeFolderOf('--dir', dir);
  const place =
    service.server === undefined ? { dbPath: join(dir, 'results.db'), dataDir: join(dir, 'data') } : undefined;
  await withClient(flags, { ...service, place }, async (client, signal) => {
    const begin = async (): Promise<Job> => {
      if (isResumed) return scanToResume(client, flags.resume);
      if (place !== undefined) await refuseUnfinished(client, dir);
      const tell = (text: string): void => void process.stderr.write(`${text}\n`);
      const lines = ReadableStream.from(targetLines(inputs, parsed, tell));
      const begun = await client.scan(lines, { ...given, capture: options }, { signal });
      tellOfAll(begun.list, inputs.length, tell);
      return begun;
    };
    const { id } = await begin();
    process.stderr.write(`scan ${id}\n`);
    const code = await follow(client, id, form, signal);
    if (report !== undefined && !signal.aborted) await writeReport(client, id, report, signal);
    process.exitCode = code;
  });
}

/** Reports what only the service knows: the sitemaps that it read, and duplicates across lists. */
function tellOfAll(list: Scan['list'], inputs: number, tell: (text: string) => void): void {
  const { left_out: leftOut, problems } = list;
  if (inputs === 1 ? leftOut.unread_sitemap === undefined : Object.keys(leftOut).length === 0) return;
  const unnumbered = problems.map((each) => ({ ...each, line: 0 }));
  for (const line of reportLines('all lists', { ...list, form: 'lines', problems: unnumbered })) tell(line);
}

/** Writes the outcomes of a scan as they come. Resolves with the exit code. */
async function follow(client: CapstanClient, id: string, form: OutputForm, signal: AbortSignal): Promise<number> {
  const progress = startProgress();
  let job: Job | undefined;
  try {
    process.stdout.write(outputHead(form));
    const onProgress = (now: Job): void => {
      job = now;
      progress.update(now);
    };
    for await (const line of client.outcomes(id, { signal, onProgress })) {
      const { result } = line;
      const details = form === 'csv' && result !== null ? await client.result(result.id, { signal }) : undefined;
      progress.clear();
      if (!process.stdout.write(outputLine(line, form, details))) await once(process.stdout, 'drain', { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.end();
  }
  if (signal.aborted) {
    process.stderr.write(`stopped; scan ${id} goes on with --resume\n`);
    return codeOfEnd(signal);
  }
  if (job?.state === 'completed') return 0;
  process.stderr.write(`the scan was ${job?.state}${job?.error == null ? '' : `: ${job.error}`}\n`);
  return 1;
}

async function scanToResume(client: CapstanClient, id: unknown): Promise<Job> {
  if (typeof id === 'string') return client.job(id);
  const newest = (await client.jobs()).find(({ kind }) => kind === 'scan');
  if (newest === undefined) throw new ConfigError('--resume goes on with a scan, and there is none');
  return newest;
}

/** A directory holds the unfinished scan of an earlier command, which would run beside a new one. */
async function refuseUnfinished(client: CapstanClient, dir: string): Promise<void> {
  const unfinished = (await client.jobs()).find(({ finished_at: finishedAt }) => finishedAt === null);
  if (unfinished === undefined) return;
  throw new ConfigError(
    `--dir ${dir} has the unfinished scan ${unfinished.id}: go on with --resume, or choose another`,
  );
}

function outputForm({ json, csv }: Flags): OutputForm {
  if (json === true && csv === true) throw new ConfigError('--json cannot be combined with --csv');
  return json === true ? 'json' : csv === true ? 'csv' : 'text';
}

/** Returns the fields of a scan as they are sent, and as they are read. @throws ConfigError that names the flag. */
function settingsOf(flags: Flags): { readonly given: ScanSettings; readonly parsed: Parsed } {
  const given: ScanSettings = Object.fromEntries(
    Object.keys(scanFields).flatMap((name) => {
      const value = flags[name];
      if (value === undefined) return [];
      return [[name, NUMBERS.includes(name) && /^\d+$/.test(String(value)) ? Number(value) : value]];
    }),
  );
  const read = z.object(scanFields).safeParse(given);
  if (read.success) return { given, parsed: read.data };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0]);
  // Errors of texts name the part that is wrong.
  const value = NUMBERS.includes(name) ? `, not ${JSON.stringify(flags[name])}` : '';
  throw new ConfigError(`${flagOf(name)} ${issue?.message}${value}`);
}
