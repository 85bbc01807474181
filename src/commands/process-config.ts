import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { withoutCredentials } from '../client/service-url.ts';
import { type Config, ConfigError, loadConfig } from '../config/mod.ts';
import { decodeText } from './decode-text.ts';

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
      return decodeText(readFileSync(path));
    },
    machine: { cores: availableParallelism() },
  });
}

/** @throws ConfigError unless the text is the URL of a service. */
export function serverUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  const given = JSON.stringify(withoutCredentials(text));
  throw new ConfigError(`--server takes a URL such as http://127.0.0.1:8080, not ${given}`);
}
