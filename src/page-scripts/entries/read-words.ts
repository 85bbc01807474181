import { afterFrames, type Begun } from '../painted/after-frames.ts';
import { enterText } from '../painted/framed-text.ts';
import { joinPlaced, type PlacedText } from '../painted/join-placed.ts';
import type { ReadingLimits } from '../painted/limits.ts';
import { findPainted } from '../painted/painted.ts';

/** Reads the painted text of the page in reading order, and where each part of it is. */
export function run(limits: ReadingLimits): Begun<PlacedText> {
  const found = findPainted(limits);
  return afterFrames(found, limits.frames, enterText(found), () => joinPlaced(found.items, limits.characters));
}
