import type { Found } from './found.ts';
import type { XmlElement } from './xml-reader.ts';

/** The elements with which lists begin. `host`: a part of a file of nmap. */
const ROOTS = { nmap: /^(?:nmaprun|host)$/, sitemap: /^(?:urlset|sitemapindex)$/ };
/** Elements that begin a list wherever they are: one may be joined to a file that was broken off inside its elements. */
const BEGINS_LIST = /^(?:nmaprun|urlset|sitemapindex)$/;

/** Names an element that begins something else than a list of this form, which is not read. */
export function foreignRoot({ name, isRoot, line }: XmlElement, form: keyof typeof ROOTS): readonly Found[] {
  const beginsList = BEGINS_LIST.test(name);
  if ((!isRoot && !beginsList) || ROOTS[form].test(name)) return [];
  const problem = beginsList
    ? 'begins a list of another form in the same file: give it as a list of its own'
    : 'is not supported: XML lists are output of nmap or masscan, or sitemaps';
  return [{ line, text: `<${name}>`, reason: 'invalid', problem }];
}
