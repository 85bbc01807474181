import { kept } from './kept.ts';

/** Whether the document was prepared for the screenshot. */
export const preparation = (): { isDone: boolean } => kept('prepared', () => ({ isDone: false }));
