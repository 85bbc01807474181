import { expect, it } from 'vitest';
import { productsIn } from '../../src/technologies/products.ts';

it.each<[header: string, products: [name: string, version: string][]]>([
  ['nginx/1.26.3', [['nginx', '1.26.3']]],
  [
    'Apache/2.4.62 (Debian) PHP/8.3',
    [
      ['Apache', '2.4.62'],
      ['PHP', '8.3'],
    ],
  ],
  ['php/8.3', [['PHP', '8.3']]],
  ['Jetty(9.4.z)', [['Jetty', '9.4.z']]],
  ['constructor', [['constructor', '']]],
  ['__proto__/1.0', []],
  ['', []],
])('names the products of the header %j', (header, products) => {
  expect(productsIn(header).map(({ name, version }) => [name, version])).toEqual(products);
});
