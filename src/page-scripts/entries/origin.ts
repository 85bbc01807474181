import { web } from '../web.ts';

/** Returns the origin of the document: `null` in a sandbox. */
export function run(): string {
  return web.origin;
}
