import { enterLinks, type LinkLimits, type LinkMark, type LinksOfDocument, linksIn, markOfLink } from '../links.ts';
import { afterFrames, type Begun } from '../painted/after-frames.ts';
import { findPainted } from '../painted/painted.ts';

/** Reads the links that the document has painted. */
export function run(limits: LinkLimits): Begun<LinksOfDocument> {
  const found = findPainted<LinkMark>(limits, (element, name, outer) => markOfLink(element, name, outer, limits.host));
  let omittedInFrames = 0;
  const enter = (answer: LinksOfDocument, frame: Parameters<typeof enterLinks>[1]) => {
    omittedInFrames += answer.omitted;
    return enterLinks(answer, frame);
  };
  return afterFrames(found, limits.frames, enter, () => {
    const { links, omitted } = linksIn(found.items, limits);
    return { links, omitted: omitted + omittedInFrames, partial: found.partial };
  });
}
