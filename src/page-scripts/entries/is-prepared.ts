import { preparation } from '../prepared.ts';

/** Returns whether the document was marked as prepared for the screenshot. */
export function run(): boolean {
  return preparation().isDone;
}
