import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { z } from 'zod';
import { registerIpCommand } from '../../src/commands/ip.ts';

/*
 * A program with only the command under test. With arguments it runs them and exits. Without arguments it runs one
 * command line for each line of standard input, because starting a process takes ten times as long as the command. The
 * output of each command line ends with a zero byte; standard error has the exit code between two zero bytes.
 */

async function run(args: readonly string[]): Promise<void> {
  const program = new Command('capstan');
  registerIpCommand(program);
  await program.parseAsync(args, { from: 'user' });
}

const [, , ...args] = process.argv;
if (args.length > 0) {
  await run(args);
} else {
  const commandLine = z.object({ args: z.array(z.string()), env: z.record(z.string(), z.string()) });
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = commandLine.parse(JSON.parse(line));
    for (const name of Object.keys(process.env)) if (name.startsWith('CAPSTAN_')) delete process.env[name];
    Object.assign(process.env, asked.env);
    process.exitCode = 0;
    await run(asked.args);
    process.stdout.write('\0');
    process.stderr.write(`\0${process.exitCode}\0`);
  }
  process.exitCode = 0;
}
