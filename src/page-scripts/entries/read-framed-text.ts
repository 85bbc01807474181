import { afterFrames, type Begun } from '../painted/after-frames.ts';
import { copyPainted } from '../painted/copy.ts';
import { enterText, type FramedLimits, type FramedText, framedText } from '../painted/framed-text.ts';

/** Reads the painted text of a frame, for the document around it. */
export function run(limits: FramedLimits): Begun<FramedText> {
  const found = copyPainted(limits);
  return afterFrames(found, limits.frames, enterText(found, found.fill), () => framedText(found, limits));
}
