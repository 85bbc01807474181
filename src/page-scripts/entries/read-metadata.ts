import { page, rootElementOf } from '../dom.ts';
import { Collector, type MetadataLimits } from '../metadata/collector.ts';
import { canonicalOf, feedsOf, jsonLdOf, metaOf } from '../metadata/head.ts';
import { microdataOf } from '../metadata/microdata.ts';

const OPEN_GRAPH = /^(?:og|article|book|profile|video|music|product|fb):/;
const NAMES = /^(?:description|author|keywords|robots|generator|application-name|theme-color|twitter:.*)$/;

/** Returns what the page says about itself as JSON, so that nothing that the page nests can reach the protocol. */
export function run(limits: MetadataLimits): { readonly json: string; readonly partial: boolean } {
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
