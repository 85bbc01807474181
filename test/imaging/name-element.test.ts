import { describe, expect, it } from 'vitest';
import { elementNamer } from '../../src/imaging/comparison/elements/name-element.ts';
import { type PageElement, readTree } from '../../src/imaging/comparison/elements/page-tree.ts';

describe('the names of elements', () => {
  const treeOf = (entries: readonly object[]) => {
    const tree = readTree(JSON.stringify({ styles: [], entries, partial: false }));
    if (tree === null) throw new Error('it is no element map');
    return tree;
  };

  it('are ids and classes that occur once, else places among siblings, also in frames', () => {
    const tree = treeOf([
      { parent: -1, tag: 'html' },
      { parent: 0, tag: 'p', id: 'one' },
      { parent: 1, tag: 'b', class: 'twice' },
      { parent: 1, tag: 'b', class: 'twice' },
      { parent: 0, tag: 'iframe', class: 'ad' },
      { parent: 4, tag: 'html', id: 'inside' },
      { parent: 5, tag: 'iframe' },
      { parent: 6, tag: 'html' },
    ]);
    expect(tree.elements.map(elementNamer(tree))).toEqual([
      'html',
      '#one',
      '#one > b:nth-of-type(1)',
      '#one > b:nth-of-type(2)',
      '.ad',
      '.ad >> html',
      '.ad >> html > iframe',
      '.ad >> html > iframe >> html',
    ]);
  });

  it('are found for 9,000 children of one element by listing these once', () => {
    const tree = treeOf([
      { parent: -1, tag: 'html' },
      ...Array.from({ length: 9000 }, () => ({ parent: 0, tag: 'i' })),
    ]);
    let lists = 0;
    const [root] = tree.elements;
    const children = root?.children;
    Object.defineProperty(root, 'children', {
      get: (): readonly PageElement[] | undefined => {
        lists += 1;
        return children;
      },
    });
    const names = tree.elements.map(elementNamer(tree));
    expect(names.at(-1)).toBe('html > i:nth-of-type(9000)');
    expect(lists).toBe(1);
  });

  it('are not looked for in a map that is deeper than captures make them', () => {
    const chain = (levels: number) => Array.from({ length: levels }, (_, at) => ({ parent: at - 1, tag: 'b' }));
    expect(treeOf(chain(1000)).elements).toHaveLength(1000);
    expect(() => treeOf(chain(1001))).toThrow();
  });
});
