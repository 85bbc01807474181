import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Config, loadConfig } from '../config.ts';

/** Loads the configuration of this process from its environment, its files and the flags of a command. */
export function processConfig(flags: Readonly<Record<string, unknown>>): Config {
  return loadConfig({
    flags,
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    machine: { cores: availableParallelism() },
  });
}
