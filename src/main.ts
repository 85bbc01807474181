import { Command, CommanderError } from 'commander';
import { registerDbCommand } from './commands/db.ts';
import { registerDiffCommand } from './commands/diff.ts';
import { registerDoctorCommand } from './commands/doctor.ts';
import { registerExportCommand } from './commands/export.ts';
import { registerIpCommand } from './commands/ip.ts';
import { registerMcpCommand } from './commands/mcp.ts';
import { registerServeCommand } from './commands/serve.ts';
import { registerShotCommand } from './commands/shot.ts';
import { registerSignCommand } from './commands/sign.ts';
import { registerStabilityCommand } from './commands/stability.ts';
import { registerWatchCommand } from './commands/watch.ts';
import { ConfigError } from './config/mod.ts';
import { packageVersion } from './version.ts';

/** Exit code for invalid flags, values and arguments. */
const EXIT_USAGE = 2;

/**
 * Runs the command line; `args` exclude the program's name. Resolves with the exit code when the command is done: 0 for
 * success, 1 for a failure, 2 for invalid usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    process.stderr.write(`capstan: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof ConfigError ? EXIT_USAGE : 1;
  }
}

function createProgram(): Command {
  const program = new Command('capstan')
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
  registerServeCommand(program);
  registerMcpCommand(program);
  registerShotCommand(program);
  registerSignCommand(program);
  registerDbCommand(program);
  registerDiffCommand(program);
  registerStabilityCommand(program);
  registerWatchCommand(program);
  registerExportCommand(program);
  registerDoctorCommand(program);
  registerIpCommand(program);
  return program;
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)));
