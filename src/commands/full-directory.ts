import { readdir } from 'node:fs/promises';
import { ConfigError } from '../config/mod.ts';

/** @throws ConfigError when the directory that a flag names has files. */
export async function refuseFullDirectory(flag: string, directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  if (names.length > 0) throw new ConfigError(`${flag} takes a new or empty directory, and ${directory} is not empty`);
}
