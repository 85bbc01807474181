import { web } from '../web.ts';

/** Returns the host of the page's URL; empty for a URL without one. */
export function run(): string {
  return web.location.host;
}
