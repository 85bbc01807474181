import { setImmediate as nextTurn } from 'node:timers/promises';
import { Command, CommanderError } from 'commander';
import { errorText } from './capture/basics/error-text.ts';
import { outputEnd, whenOutputEnds } from './commands/closed-output.ts';
import { codeOfEnd } from './commands/ending.ts';
import { failWhenProxyCloses } from './commands/proxy-errors.ts';
import { ConfigError } from './config/config-error.ts';
import { oneLine } from './log/printable.ts';
import { packageVersion } from './version.ts';

/** Loaders of the commands: only the called one is imported, which makes a start faster. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./commands/serve/serve.ts')).registerServeCommand,
  mcp: async () => (await import('./commands/mcp.ts')).registerMcpCommand,
  shot: async () => (await import('./commands/shot/shot.ts')).registerShotCommand,
  sign: async () => (await import('./commands/sign.ts')).registerSignCommand,
  db: async () => (await import('./commands/db.ts')).registerDbCommand,
  diff: async () => (await import('./commands/diff.ts')).registerDiffCommand,
  scan: async () => (await import('./commands/scan/scan.ts')).registerScanCommand,
  stability: async () => (await import('./commands/stability.ts')).registerStabilityCommand,
  watch: async () => (await import('./commands/watch/watch.ts')).registerWatchCommand,
  export: async () => (await import('./commands/export.ts')).registerExportCommand,
  doctor: async () => (await import('./commands/doctor.ts')).registerDoctorCommand,
  ip: async () => (await import('./commands/ip.ts')).registerIpCommand,
};

/** Exit code for invalid flags, values and arguments. */
const EXIT_USAGE = 2;

/**
 * Runs the command line; `args` exclude the program's name. Resolves with the exit code when the command is done: 0 for
 * success, 1 for a failure, 2 for invalid usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  // Of a command that has nothing to clean up.
  whenOutputEnds((reason) => process.exit(codeOfEnd({ reason })));
  failWhenProxyCloses();
  const code = await run(args);
  // A write that has failed is reported after it.
  await nextTurn();
  const reason = outputEnd();
  return reason !== undefined && code === 0 ? codeOfEnd({ reason }) : code;
}

async function run(args: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    for (const load of commandsFor(args)) (await load())(program);
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    process.stderr.write(`capstan: ${oneLine(errorText(error))}\n`);
    return error instanceof ConfigError ? EXIT_USAGE : 1;
  }
}

/**
 * Returns the called command, or all commands when there is no such name: the help and the suggestion for a misspelt
 * name need them.
 */
function commandsFor([name = '']: readonly string[]) {
  if (name === '--version' || name === '-V') return [];
  const called = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return called === undefined ? Object.values(COMMANDS) : [called];
}

function createProgram(): Command {
  return new Command('capstan')
    .description('Captures web pages: screenshots, PDFs and HTML snapshots, over HTTP or into files.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      outputError: (text, write) =>
        write(
          `capstan: ${text
            .replace(/^error: /, '')
            .trim()
            .replace(/\s*\n\s*/g, ' ')}\n`,
        ),
    });
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)));
