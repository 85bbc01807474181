import { web } from '../web.ts';

/** Returns the size of the window, scroll bars included. */
export function run(): { readonly width: number; readonly height: number } {
  return { width: web.innerWidth, height: web.innerHeight };
}
