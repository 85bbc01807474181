import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ownFile } from './own-files.ts';

const Manifest = z.object({ version: z.string() });

const { version } = Manifest.parse(JSON.parse(readFileSync(ownFile('package.json'), 'utf8')));

/** The version of this package. */
export function packageVersion(): string {
  return version;
}
