import { createInterface } from 'node:readline';
import { z } from 'zod';
import { main } from '../../src/main.ts';

/*
 * Runs one command line for each line of standard input. The output of each ends with a zero byte; standard error has
 * the exit code between two zero bytes.
 */

const commandLine = z.object({ args: z.array(z.string()), env: z.record(z.string(), z.string()) });
for await (const line of createInterface({ input: process.stdin })) {
  const { args, env } = commandLine.parse(JSON.parse(line));
  for (const name of Object.keys(process.env)) if (name.startsWith('CAPSTAN_')) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = 0;
  const code = await main(args);
  process.stdout.write('\0');
  process.stderr.write(`\0${code}\0`);
}
process.exitCode = 0;
