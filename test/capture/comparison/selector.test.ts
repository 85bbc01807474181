import { describe, expect, it } from 'vitest';
import { parseSelector } from '../../../src/capture/comparison/selector.ts';
import { captureRequest } from '../../support/capture-request.ts';

/** The steps of a selector, in short: an XPath, or compounds with the combinators before them. */
const stepsOf = (selector: string) =>
  parseSelector(selector).map((step) =>
    'xpath' in step
      ? step.xpath
      : step.alternatives.map((compounds) =>
          compounds.map(({ combinator, compound }) => [combinator, compound].join('')),
        ),
  );

describe('parseSelector', () => {
  it.each([
    ['p', [[['p']]]],
    [
      ' css=article .button , a>b ',
      [
        [
          ['article', ' .button'],
          ['a', '>b'],
        ],
      ],
    ],
    ['iframe#pay >> .card>>b', [[['iframe#pay']], [['.card']], [['b']]]],
    ['a + b ~ c:nth-child(2n + 1)', [[['a', '+b', '~c:nth-child(2n + 1)']]]],
    ['a[title=">> , ]"] b:is(c > d, e f)', [[['a[title=">> , ]"]', ' b:is(c > d, e f)']]]],
    [
      '.a\\>\\> b, .\\31 23 c',
      [
        [
          ['.a\\>\\>', ' b'],
          ['.\\31 23', ' c'],
        ],
      ],
    ],
    [String.raw`a[b="\"> >>"] c`, [[[String.raw`a[b="\"> >>"]`, ' c']]]],
    ['xpath=//a[text()=">> ("] >> ./b | //c >> (//d)[1]', ['//a[text()=">> ("]', './b | //c', '(//d)[1]']],
    [String.raw`//a[text()="\"] >> b`, [String.raw`//a[text()="\"]`, [['b']]]],
    ['//iframe[contains(@src, "pay")] >> .card', ['//iframe[contains(@src, "pay")]', [['.card']]]],
  ])('splits %s into steps, lists and compounds', (selector, steps) => {
    expect(stepsOf(selector)).toEqual(steps);
  });

  it.each([
    ['a >>', 'a step is empty'],
    ['>> a', 'a step is empty'],
    ['  ', 'a step is empty'],
    ['a >>> b', 'a part of "> b" is empty'],
    ['a,,b', 'a part of "" is empty'],
    ['a >', 'a part of "a >" is empty'],
    ['a[b', '] is missing'],
    ['//a["b]', '" is missing'],
    ['a)', ') closes nothing'],
    ['text=Pay', 'text= is no prefix, other than css= and xpath='],
    ['iframe >> internal:control=enter-frame >> a', 'internal:control= is no prefix, other than css= and xpath='],
    ['p:has-text("Pay")', ':has-text is no pseudo-class of a browser'],
    [Array.from({ length: 11 }, () => 'a').join('>>'), 'it has 11 steps, and at most 10 are accepted'],
  ])('refuses %s, says why, and what is accepted', (selector, problem) => {
    expect(() => parseSelector(selector)).toThrow(problem);
    expect(() => captureRequest('http://a.test', { mask: ['p', selector] })).toThrow(
      `mask[1]: ${JSON.stringify(selector)} is no selector: ${problem}; it must be CSS or XPath, in steps separated by >>`,
    );
  });

  it('refuses 1000 open brackets', () => {
    expect(() => parseSelector('('.repeat(1000))).toThrow(') is missing');
  });
});
