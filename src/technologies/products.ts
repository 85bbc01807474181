/** A product and its version, `''` without one. */
export interface Product {
  readonly name: string;
  readonly version: string;
}

const MAX_CHARACTERS = 256;
const MAX_PRODUCTS = 10;
/** Without versions, a header is one name: `Oracle HTTP Server`. */
const NAME = /^[a-z][\w .+!-]{0,39}$/i;
const PRODUCT = /^([a-z][\w.+-]{0,39})\/v?(\d[\w.+-]*)$/i;
/** Names of products as they are usually written, for headers that write them otherwise. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['php', 'PHP'],
  ['apache', 'Apache'],
  ['express', 'Express'],
  ['nginx', 'nginx'],
]);

/**
 * Returns the products that a header `server` or `x-powered-by` names (RFC 9110, 10.2.4). Comments in parentheses are
 * left out.
 */
export function productsIn(header: string): readonly Product[] {
  const text = header.slice(0, MAX_CHARACTERS);
  return text
    .split(/[,\n]/)
    .flatMap(productsOf)
    .slice(0, MAX_PRODUCTS)
    .map(({ name, version }) => ({ name: NAMES.get(name.toLowerCase()) ?? name, version }));
}

function productsOf(value: string): readonly Product[] {
  // Jetty writes its version in parentheses.
  const [, jetty = '', number = ''] = /^\s*([a-z]+)\(v?(\d[\w.-]*)\)/i.exec(value) ?? [];
  if (jetty !== '') return [{ name: jetty, version: number }];
  const plain = value.replaceAll(/\([^()]*\)?/g, ' ').trim();
  const words = plain.split(/\s+/);
  const products = words.flatMap((word) => {
    const [, name, version = ''] = PRODUCT.exec(word) ?? [];
    return name === undefined ? [] : [{ name, version }];
  });
  // The first product may have no version when others have one.
  const [first = ''] = words;
  const isFirst = products.length > 0 && !first.includes('/') && NAME.test(first);
  if (products.length > 0) return isFirst ? [{ name: first, version: '' }, ...products] : products;
  return NAME.test(plain) ? [{ name: plain, version: '' }] : [];
}
