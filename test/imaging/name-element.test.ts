import { describe, expect, it } from 'vitest';
import { problemsOfSelectors } from '../../src/capture/comparison/element-selector.ts';
import { elementKeys, elementNamer } from '../../src/imaging/comparison/elements/name-element.ts';
import { type PageElement, readTree } from '../../src/imaging/comparison/elements/page-tree.ts';
import { selectElements } from '../../src/imaging/comparison/elements/select-elements.ts';

describe('the names of elements', () => {
  const treeOf = (entries: readonly object[]) => {
    const tree = readTree(JSON.stringify({ styles: [], entries, partial: false }));
    if (tree === null) throw new Error('it is no element map');
    return tree;
  };
  const at = ({ elements }: ReturnType<typeof treeOf>, order: number) => {
    const element = elements[order];
    if (element === undefined) throw new Error(`there is no element ${order}`);
    return element;
  };
  const namesIn = (tree: ReturnType<typeof treeOf>) => {
    const name = elementNamer(tree);
    return tree.elements.map((element) => name(element).selector);
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
    expect(namesIn(tree)).toEqual([
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
    const names = namesIn(tree);
    expect(names.at(-1)).toBe('html > i:nth-of-type(9000)');
    expect(lists).toBe(1);
  });

  it('escape characters that are not of names, and select the element alone', () => {
    const tags = [
      'o:p',
      'x.y',
      'a"b',
      'x[y',
      'x\\y',
      'a\u009b31m',
      'a\u202eb',
      'é-é',
      'x=y',
      'FooBar',
      'a\u{1f6a2}',
      'a>b',
    ];
    const tree = treeOf([{ parent: -1, tag: 'html' }, ...[...tags, 'o:p'].map((tag) => ({ parent: 0, tag }))]);
    const name = elementNamer(tree);
    for (const element of tree.elements) {
      const { selector } = name(element);
      expect(selector).toMatch(/^[^\p{Cc}\p{Cf}]+$/u);
      expect(problemsOfSelectors([selector])).toEqual([]);
      expect([...selectElements(tree, [selector])]).toEqual([element]);
    }
    expect(name(at(tree, 1)).selector).toBe('html > o\\:p:nth-of-type(1)');
  });

  it('are at most 1,000 characters, and select the named element alone', () => {
    const tag = 'x'.repeat(95);
    const levels = Array.from({ length: 480 }, (_, at) => ({ parent: at, tag }));
    const cells = Array.from({ length: 250 }, () => ({ parent: 480, tag: 'td' }));
    const tree = treeOf([{ parent: -1, tag: 'html' }, ...levels, ...cells]);
    const name = elementNamer(tree);
    for (const element of tree.elements) {
      const named = name(element);
      expect(named.selector.length).toBeLessThanOrEqual(1000);
      expect([...selectElements(tree, [named.selector])]).toEqual([named.element]);
    }
    // The innermost elements have a name of their own, others that of an element around them.
    const last = at(tree, tree.elements.length - 1);
    expect(name(last).element).toBe(last);
    expect(name(at(tree, 300)).element.order).toBeLessThan(300);
  });

  it('enter at most as many frames as selectors do', () => {
    const frames = Array.from({ length: 12 }, (_, at) => [
      { parent: 2 * at, tag: 'iframe' },
      { parent: 2 * at + 1, tag: 'html' },
    ]);
    const tree = treeOf([{ parent: -1, tag: 'html' }, ...frames.flat()]);
    for (const selector of namesIn(tree)) expect(problemsOfSelectors([selector])).toEqual([]);
    expect(namesIn(tree).at(-1)?.split('>>')).toHaveLength(10);
  });

  it('have keys beside them that tell elements apart, and find them in another map of the page', () => {
    const levels = Array.from({ length: 400 }, (_, at) => ({ parent: at, tag: 'div' }));
    const before = treeOf([{ parent: -1, tag: 'html' }, ...levels, { parent: 400, tag: 'p', id: 'end' }]);
    const after = treeOf([
      { parent: -1, tag: 'html' },
      ...levels,
      { parent: 1, tag: 'p', id: 'end' },
      { parent: 400, tag: 'i' },
    ]);
    const [keysBefore, keysAfter] = [elementKeys(before), elementKeys(after)];
    expect(new Set(keysAfter).size).toBe(after.elements.length);
    expect(keysAfter.slice(0, 402)).toEqual(keysBefore);
  });

  it('are not looked for in a map that is deeper than captures make them', () => {
    const chain = (levels: number) => Array.from({ length: levels }, (_, at) => ({ parent: at - 1, tag: 'b' }));
    expect(treeOf(chain(1000)).elements).toHaveLength(1000);
    expect(() => treeOf(chain(1001))).toThrow();
  });
});
