import { type FrameAnswer, finishReading } from '../painted/after-frames.ts';

/** Returns what a reading has made with the answers of its frames, in the order of `frames-of-reading`. */
export function run(key: number, answers: readonly (FrameAnswer | null)[]): unknown {
  return finishReading(key, answers);
}
