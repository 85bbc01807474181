import { page, rootElementOf } from '../dom/dom.ts';
import { Collector, type MetadataLimits } from '../metadata/collector.ts';
import { canonicalOf, feedsOf, jsonLdOf, metaOf } from '../metadata/head.ts';
import { microdataOf } from '../metadata/microdata.ts';
import { afterFrames, type Begun } from '../painted/after-frames.ts';
import { copyPainted } from '../painted/copy-painted.ts';
import { findPainted } from '../painted/find-painted.ts';
import { enterText, type FramedLimits, type FramedText, framedText } from '../painted/framed-text.ts';
import { joinPlaced, type PlacedText } from '../painted/join-placed.ts';
import { joinText } from '../painted/join-text.ts';
import type { ReadingLimits } from '../painted/limits.ts';
import {
  enterLinks,
  type LinkLimits,
  type LinkMark,
  type LinksOfDocument,
  linksIn,
  markOfLink,
} from '../painted/links.ts';

/** Reads the painted text of the page in reading order. */
export function readText(limits: ReadingLimits): Begun<{ readonly text: string; readonly partial: boolean }> {
  const found = findPainted(limits);
  return afterFrames(found, limits.frames, enterText(found), () => {
    const text = joinText(found.items);
    const ended = text === '' ? '' : `${text}\n`;
    const partial = found.partial || ended.length > limits.characters;
    return { text: ended.slice(0, limits.characters).toWellFormed(), partial };
  });
}

/** Reads the painted text of the page in reading order, and where each part of it is. */
export function readWords(limits: ReadingLimits): Begun<PlacedText> {
  const found = findPainted(limits);
  return afterFrames(found, limits.frames, enterText(found), () => joinPlaced(found.items, limits.characters));
}

/** Reads the painted text of a frame, for the document around it. */
export function readFramedText(limits: FramedLimits): Begun<FramedText> {
  const found = copyPainted(limits);
  return afterFrames(found, limits.frames, enterText(found, found.fill), () => framedText(found, limits));
}

/** Reads the links that the document has painted. */
export function readLinks(limits: LinkLimits): Begun<LinksOfDocument> {
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

const OPEN_GRAPH = /^(?:og|article|book|profile|video|music|product|fb):/;
const NAMES = /^(?:description|author|keywords|robots|generator|application-name|theme-color|twitter:.*)$/;

/** Returns what the page says about itself as JSON, so that nothing that the page nests can reach the protocol. */
export function readMetadata(limits: MetadataLimits): { readonly json: string; readonly partial: boolean } {
  const collector = new Collector(limits);
  const root = rootElementOf(page);
  const { items, invalid } = jsonLdOf(collector);
  const found = {
    canonical: canonicalOf(collector),
    language: root === null ? null : collector.text(root, 'lang'),
    feeds: feedsOf(collector),
    open_graph: metaOf(collector, 'property', OPEN_GRAPH),
    names: metaOf(collector, 'name', NAMES),
    json_ld: items,
    json_ld_invalid: invalid,
    microdata: microdataOf(collector),
  };
  const json = JSON.stringify(found, null, 1);
  // A page can nest values so that most of the lines are spaces.
  return { json: json.length < limits.characters ? json : JSON.stringify(found), partial: collector.isPartial };
}
