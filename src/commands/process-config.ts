import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Config, loadConfig } from '../config/mod.ts';

/**
 * Loads the configuration of this process from its environment, its files and the flags of a command. `note`: called
 * with each file that is read.
 */
export function processConfig(
  flags: Readonly<Record<string, unknown>>,
  note: (file: string) => void = () => {},
): Config {
  return loadConfig({
    flags,
    env: process.env,
    readFile: (path) => {
      note(path);
      return readFileSync(path, 'utf8');
    },
    machine: { cores: availableParallelism() },
  });
}
