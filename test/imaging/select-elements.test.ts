import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { elementSteps, problemsOfSelectors } from '../../src/capture/comparison/element-selector.ts';
import { readTree } from '../../src/imaging/comparison/elements/page-tree.ts';
import { selectElements } from '../../src/imaging/comparison/elements/select-elements.ts';
import { serviceForSuite } from '../support/for-suite.ts';

const Captured = z.object({ data: z.object({ id: z.number(), title: z.string() }) });

/** Selectors whose meaning depends on more than names and attributes. Maps lack what is in the head. */
const SELECTORS = [
  'body :empty',
  'main :empty',
  'p:empty',
  'p:not(:empty)',
  'section:has(> :empty)',
  'template:empty, script:empty, svg:empty, iframe:empty, .below:empty',
  ':any-link',
  ':link',
  ':visited',
  ':hover',
  ':enabled',
  ':disabled',
  ':checked',
  ':required',
  ':optional',
  'body :read-only',
  ':read-write',
  ':root',
  'body :first-child',
  'body :last-of-type',
  'body :nth-child(2n + 1)',
  ':nth-last-child(2 of .some)',
  ':lang(de)',
  '[type=TEXT]',
  'main p p',
  'body p ~ section + section',
  'main > p:has(~ form)',
  'main:has(> form fieldset ~ fieldset) b',
  'div:has(> p + p ~ section > i) > p, :is(main a ~ a, section > b)',
  'p:not(p ~ p ~ p)',
  ':nth-last-of-type(2n)',
  ':nth-child(odd of .some, a)',
  'main :only-of-type',
  'main :only-child',
  ':scope > body > main',
  'option:checked, input:not(:checked)',
] as const;

/** Selectors that browsers accept or refuse for their syntax. */
const WRITTEN = [
  ...[
    ':lang(de)',
    ':lang("de")',
    ':lang(de, en)',
    ':lang("*-CH")',
    ':lang()',
    '[x=y i]',
    '[x="y"i]',
    '[x=y s]',
    '[x="y" S]',
  ],
  ...[
    '[x=1]',
    '[x="1"]',
    '[x=-a]',
    '[x=--a]',
    '[x=]',
    '[=x]',
    '[x==y]',
    '[ x = y ]',
    '[x="]"]',
    '[x="y\'z"]',
    '[x=y z]',
    '[|x]',
  ],
  ...[
    '#a',
    '#1',
    '#-1',
    '#\\31 ',
    '.1',
    '.\\31 a',
    '.-',
    '.--',
    '..a',
    'a..b',
    '.a\\.b',
    '.\u00e4',
    '.\u{1f600}',
    '*',
    '**',
    '*a',
    'a*',
  ],
  ...[
    '*.a',
    '!a',
    'a!',
    '*|*',
    ':not(*|*)',
    'a:not(.b, #c):is(d > e)',
    ':not(> a)',
    ':has(> a, + b)',
    ':has(:has(a))',
    ':not([x=y s])',
  ],
  ...[
    ':root',
    ':root()',
    ':first-child()',
    ':hover',
    ':HOVER',
    ':Not(a)',
    ':nth-child(2n + 1)',
    ':nth-child(2 n)',
    ':nth-child(+ 3)',
  ],
  ...[
    ':nth-child(-n+3)',
    ':nth-child(ODD)',
    ':nth-child(2 of .a, b)',
    ':nth-child(n of a > b):hover',
    ':nth-child(n of)',
    ':nth-of-type(2 of a)',
  ],
  ...[
    'a>b',
    'a  + b~c',
    'a,b , c',
    'a,,b',
    'a >',
    '> a',
    'a > > b',
    'a || b',
    'a/**/b',
    'a)',
    '[x]a',
    ':is(a)b',
    'a:',
    'a::',
    '.',
    '#',
  ],
];

/** Selectors that browsers accept and maps cannot answer, or in which browsers leave out what they do not know. */
const REFUSED_HERE = [
  ':focus',
  'input:focus-within',
  ':target',
  ':invalid',
  ':placeholder-shown',
  ':popover-open',
  ':is(:unknown, a)',
  'p:where(a!, b)',
  'p::before',
];

const PAGE = `<!doctype html><html lang=en><head><meta charset=utf-8><link rel=icon href=data:,><title>-</title></head><body><main>
  <p></p><p> </p><p>Tides</p><p><!-- nothing --></p><p><br></p><p class=some hidden>Hidden</p><p class=some hidden></p>
  <section><i></i></section><section lang=de-AT><b>Ropes</b></section><svg width=9 height=9> </svg><template><p></p></template>
  <iframe srcdoc="<p>Inside"></iframe><iframe>Instead</iframe>
  <a href=/one>One</a><a>None</a>
  <form><fieldset disabled><legend><input></legend><input type=text><button>B</button><select></select></fieldset>
    <input required><input type=text readonly><input type=TEXT><input type=checkbox checked><input type=hidden required><input type=range required><textarea></textarea>
    <select disabled></select><fieldset><input disabled></fieldset></form>
  <div contenteditable><em>Edit</em></div></main>
  <div style="position:absolute;left:-5000px;width:90px" class=below>Outside</div>
  <script>document.title = ${JSON.stringify(SELECTORS)}.map((each) => document.querySelectorAll(each).length).join() + ';' + ${JSON.stringify([...WRITTEN, ...REFUSED_HERE])}.map((each) => { try { document.querySelector(each); return 1 } catch { return 0 } }).join('')</script></body></html>`;

describe('selectElements', () => {
  const app = serviceForSuite();

  it('finds as many elements in a map as browsers find in the page, and accepts what they accept', async () => {
    const response = await app.post('/screenshot', { html: PAGE, fullPage: true });
    const { id, title } = Captured.parse(await response.json()).data;
    const map = await app.call(`/screenshot/${id}?view=elements`);
    const tree = readTree(await map.text());
    if (tree === null) throw new Error('the map cannot be read');
    const [counts = '', accepted = ''] = title.split(';');
    const inBrowser = counts.split(',').map(Number);
    const found = SELECTORS.map((each) => selectElements(tree, [each]).size);
    expect(Object.fromEntries(SELECTORS.map((each, at) => [each, found[at]]))).toEqual(
      Object.fromEntries(SELECTORS.map((each, at) => [each, inBrowser[at]])),
    );
    const isAccepted = (selector: string) => problemsOfSelectors([selector]).length === 0;
    expect(WRITTEN.filter(isAccepted)).toEqual(WRITTEN.filter((_, at) => accepted[at] === '1'));
    expect(accepted.slice(WRITTEN.length)).toBe('1'.repeat(REFUSED_HERE.length));
    expect(REFUSED_HERE.filter(isAccepted)).toEqual([]);
  });

  it.each([
    ':contains("Tides")',
    ':icontains(tides)',
    'option:selected',
    ':parent',
    ':header',
    ':input',
    ':button',
    ':checkbox',
    ':radio',
    ':file',
    ':password',
    ':image',
    ':reset',
    ':submit',
    ':matches(p)',
    '[type!=text]',
    'p:not(:header)',
  ])('refuses %s, which browsers do not know', (selector) => {
    expect(() => elementSteps(selector)).toThrow(/browsers/);
  });

  it('refuses a state, such as :focus, and says that maps do not record it', () => {
    expect(() => elementSteps(':is(:focus, a)')).toThrow(
      ':focus is no pseudo-class that can be told from an element map',
    );
  });

  it('reads names of many escapes in no time', () => {
    expect(problemsOfSelectors([`.${'\\61b'.repeat(200)}!`])).toHaveLength(1);
  });

  it.each(['[title=":header"]', '.a\\:button', 'p:is(.x)', '[title="a!=b"]'])('accepts %s', (selector) => {
    expect(elementSteps(selector)).toEqual([selector]);
  });

  it('accepts lists of selectors as long as pages need', () => {
    const path = `main > ${'div:nth-of-type(12) > '.repeat(6)}span:not(.a, .b)`;
    expect(problemsOfSelectors(Array.from({ length: 50 }, () => path))).toEqual([]);
    expect(problemsOfSelectors([`${':is('.repeat(10)}p${')'.repeat(10)}`, 'input:disabled', ':read-only'])).toEqual([]);
    expect(problemsOfSelectors([`[title="${'('.repeat(20)}"]`, '.a'.concat('\\('.repeat(20))])).toEqual([]);
  });

  it.each(['a:constructor', 'a:valueOf()', 'a:__proto__', 'a:hasOwnProperty'])(
    'refuses %s, a name of objects',
    (selector) => {
      expect(problemsOfSelectors([selector])).toEqual([expect.stringMatching(/^must have CSS selectors, not "a:/)]);
    },
  );

  it.each([
    ['deeply nested groups', [`${':is('.repeat(11)}p:unknown${')'.repeat(11)}`]],
    ['long lists', Array.from({ length: 11 }, () => Array.from({ length: 495 }, () => 'p:').join(''))],
    ['pseudo-classes that stand for long selectors', [Array.from({ length: 60 }, () => ':read-only,:x').join()]],
    ['escaped names of pseudo-classes', [Array.from({ length: 40 }, () => ':r\\65 a\\64 -only,:x').join()]],
    ['closed brackets before nested groups', [`[a="${')'.repeat(30)}"]${':is('.repeat(11)}p${')'.repeat(11)}`]],
  ])('refuses %s without reading them', (_, selectors) => {
    expect(problemsOfSelectors(selectors)).toEqual([expect.stringMatching(/^must have selectors of at most 10/)]);
  });
});
