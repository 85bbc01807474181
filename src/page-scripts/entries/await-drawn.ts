import { page, stateOf } from '../dom.ts';
import { web } from '../web.ts';
import { run as awaitFrames } from './await-frames.ts';

/** Resolves when the document has loaded and drawn in the window. */
export async function run(): Promise<void> {
  if (stateOf(page) !== 'complete') await new Promise((resolve) => web.addEventListener('load', resolve));
  await awaitFrames();
}
