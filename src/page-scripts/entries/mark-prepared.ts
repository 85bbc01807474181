import { preparation } from '../prepared.ts';

/** Marks the document as prepared for the screenshot. */
export function run(): void {
  preparation().isDone = true;
}
