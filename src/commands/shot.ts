import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { concatMap, fromEvent, lastValueFrom, reduce, takeUntil, tap } from 'rxjs';
import { z } from 'zod';
import { IMAGE_FORMATS } from '../capture/options/screenshot.ts';
import type { BatchItem } from '../capture/outcome.ts';
import { type CaptureRequest, requestSchemas } from '../capture/request.ts';
import type { Result } from '../capture/result.ts';
import { readTarget } from '../capture/target.ts';
import { parseOrRefuse } from '../capture/validate.ts';
import { addConfigFlags } from '../config/flags.ts';
import { type Config, ConfigError } from '../config.ts';
import { openLog } from '../log.ts';
import { watchForEnd } from './ending.ts';
import { processConfig } from './process-config.ts';
import { makeFolder, saveShot } from './shot-files.ts';
import { type Shot, startReport } from './shot-report.ts';

const shotFlags = z.object({
  outDir: z.string().min(1),
  fullPage: z.boolean().default(false),
  format: z.preprocess((format) => (format === 'jpg' ? 'jpeg' : format), z.enum(IMAGE_FORMATS)),
  quality: z.coerce.number().int().min(1).max(100),
  concurrency: z.coerce.number().int().min(1).max(1000).optional(),
  logLevel: z.string().default('error'),
});

const TAKES: Readonly<Record<string, string>> = {
  outDir: '--out-dir takes the path of a directory',
  format: '--format takes one of png, jpeg, webp',
  quality: '--quality takes an integer from 1 to 100',
  concurrency: '--concurrency takes an integer from 1 to 1000',
};

export function registerShotCommand(program: Command): void {
  const command = program
    .command('shot')
    .description('Capture pages without a server: an image file and a line for each. Exit code 1 if any failed.')
    .argument('<url...>', 'what to capture; - reads addresses from standard input, one a line')
    .addOption(new Option('--out-dir <dir>', 'where the images go').default('shots'))
    .option('--full-page', 'the whole page, not only what a window shows')
    .addOption(new Option('--format <format>', `${IMAGE_FORMATS.join(', ')}`).default('png'))
    .addOption(new Option('--quality <n>', '1 to 100, of jpeg and webp').default('80'))
    .option('--concurrency <n>', 'captures at once; default: --max-concurrent of the service');
  addConfigFlags(command, [
    'timeoutMs',
    'maxTimeoutMs',
    'allowTargets',
    'denyTargets',
    'browserPath',
    'sandbox',
    'logLevel',
  ]).action(async (addresses: readonly string[], flags: Readonly<Record<string, unknown>>) => {
    const { outDir, concurrency, logLevel, ...options } = parseFlags(flags);
    const config = processConfig({ ...flags, logLevel });
    const { screenshot } = requestSchemas({
      maxBatch: 1,
      defaultTimeoutMs: config.timeoutMs,
      maxTimeoutMs: config.maxTimeoutMs,
    });
    const requests = (await readAddresses(addresses)).map((address) =>
      parseOrRefuse(screenshot, { ...options, url: checked(address) }),
    );
    const maxConcurrent = concurrency ?? config.maxConcurrent;
    if (!(await shoot(requests, outDir, { ...config, maxConcurrent }))) process.exitCode = 1;
  });
}

function parseFlags(flags: Readonly<Record<string, unknown>>): z.output<typeof shotFlags> {
  const parsed = shotFlags.safeParse(flags);
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0]);
  throw new ConfigError(`${TAKES[name] ?? name}, not ${JSON.stringify(flags[name])}`);
}

async function readAddresses(given: readonly string[]): Promise<readonly string[]> {
  const piped = given.includes('-') ? (await text(process.stdin)).split('\n') : [];
  const lines = piped.map((line) => line.trim()).filter((line) => line !== '');
  const addresses = given.flatMap((address) => (address === '-' ? lines : [address]));
  if (addresses.length === 0) throw new ConfigError('shot takes at least one address, and standard input had none');
  return addresses;
}

function checked(address: string): string {
  const reading = readTarget(address);
  if (!reading.ok) throw new ConfigError(`shot takes addresses, and ${JSON.stringify(address)} ${reading.problem}`);
  return address;
}

/** Captures every request and saves its image. Resolves with true when all of them are saved. */
async function shoot(requests: readonly CaptureRequest[], outDir: string, config: Config): Promise<boolean> {
  await makeOutDir(outDir);
  const log = openLog(config);
  const { logger } = log;
  const ending = watchForEnd(logger);
  const { createService } = await import('../service/create-service.ts');
  const service = await createService({ ...config, ...withoutServer(requests.length) }, logger);
  ending.watchOver(service);
  const report = startReport(requests.length);
  try {
    const shots = service.submitBatch(requests, config.maxConcurrent).pipe(
      takeUntil(fromEvent(ending.signal, 'abort')),
      concatMap((item) =>
        finish(item, (result) => saveShot(service.artifacts, result, outDir, item.index, requests.length)),
      ),
      tap((shot) => report.done(shot)),
      reduce((saved, shot) => saved + (shot.saved ? 1 : 0), 0),
    );
    return (await lastValueFrom(shots)) === requests.length;
  } finally {
    report.end();
    await service.stop(0);
    await log.flush();
  }
}

/** Before a browser is started: where the images cannot go, nothing needs to be captured. */
async function makeOutDir(outDir: string): Promise<void> {
  try {
    await makeFolder(outDir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`--out-dir takes a directory that can be written to, and ${outDir} cannot be made: ${why}`);
  }
}

/** No database, a directory of its own that goes with the process, and room for all there is to do. */
function withoutServer(size: number): Partial<Config> {
  const dataDir = mkdtempSync(join(tmpdir(), 'capstan-shot-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  return {
    webhook: [],
    dbPath: null,
    mongoUrl: null,
    dataDir,
    retainDays: null,
    retainBytes: null,
    maxQueue: size,
    maxBatch: size,
  };
}

async function finish(item: BatchItem, save: (result: Result) => Promise<string>): Promise<Shot> {
  const { outcome, url } = item;
  if (outcome.state !== 'stored') return { saved: false, url, ...outcome.failure };
  const { response_code: status, title } = outcome.result;
  return { saved: true, file: await save(outcome.result), status, title };
}
