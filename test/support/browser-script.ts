import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { makeDirectory } from './temporary-directory.ts';

/** Writes a shell script to use as the browser, which another user may run. Returns its path. */
export async function scriptAsBrowser(text: string): Promise<string> {
  const path = join(await makeDirectory(), 'script');
  await writeScript(path, text);
  return path;
}

export const writeScript = (path: string, text: string) => writeFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });

/** Writes a script that starts the browser as `command` says, and returns its path. */
export async function browserStartedBy(command: (executable: string) => string): Promise<string> {
  const found = await executableFinder(undefined)();
  if ('missing' in found) throw new Error(found.missing);
  const env = Object.entries(found.env).map(([name, value]) => `export ${name}='${value}'`);
  return scriptAsBrowser([...env, command(`'${found.path}'`)].join('\n'));
}
