import { nextFrame } from '../frames.ts';

/**
 * Resolves when the document has drawn in the window. The compositor may still be painting the first frame when the
 * second begins; it has drawn the first when the third begins.
 */
export async function run(): Promise<void> {
  await nextFrame();
  await nextFrame();
  await nextFrame();
}
