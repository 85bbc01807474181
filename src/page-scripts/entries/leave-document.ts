import { web } from '../web.ts';

/** Replaces the document with an empty one in the same renderer. */
export function run(): void {
  web.location.replace('about:blank');
}
