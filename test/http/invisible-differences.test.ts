import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ComparisonSchema } from '../../src/capture/comparison/comparison.ts';
import { serviceForSuite } from '../support/for-suite.ts';

const Answer = z.object({ data: ComparisonSchema });
const Captured = z.object({ data: z.object({ id: z.number() }) });

const app = serviceForSuite();

async function capture(body: string, title: string): Promise<number> {
  const html = `<!doctype html><meta charset=utf-8><title>${title}</title><style>body{font:16px sans-serif}</style>${body}`;
  const response = await app.post('/screenshot', { html, outputs: ['text'], waitUntil: 'load' });
  expect(response.status).toBe(200);
  return Captured.parse(await response.json()).data.id;
}

async function compare(before: string, after: string, titles: readonly [string, string] = ['A', 'A'], ignore = '') {
  const [a, b] = [await capture(before, titles[0]), await capture(after, titles[1])];
  const response = await app.call(`/compare?a=${a}&b=${b}${ignore}`);
  const { text, title, elements } = Answer.parse(await response.json()).data;
  return { lines: text?.unified, title, elements: elements?.changes };
}

const NOTHING = { lines: '', title: null, elements: [] };

describe('a comparison of words', () => {
  it.each([
    ['a no-break space', '<p>10 €', '<p>10&nbsp;€'],
    ['a soft hyphen', '<p>information', '<p>infor&shy;mation'],
    ['decomposed letters', '<p>caf\u00e9', '<p>cafe\u0301'],
    ['a mark of direction', '<p>10 €', '<p>10&lrm; €'],
    ['a zero-width space', '<p>10 €', '<p>10&#8203; €'],
    ['an element that allows a break', '<p>10 €', '<p>10<wbr> €'],
    ['a comment in a text', '<p>10 €', '<p>10<!-- and --> €'],
    ['spaces of a preformatted text', '<pre>a  b</pre>', '<pre>a&nbsp; b</pre>'],
    ['an element of nothing but a zero-width space', '<p><b>10</b> €', '<p><b>10</b><span>&#8203;</span> €'],
  ])('sees no difference in %s', async (_, before, after) => {
    expect(await compare(before, after)).toEqual(NOTHING);
  });

  it.each([
    ['Tickets for 10 €', 'Tickets for 10\u00a0€'],
    ['Information', 'Infor\u00admation'],
    ['Café', 'Cafe\u0301'],
  ])('sees no difference between the titles %j and %j', async (before, after) => {
    expect(await compare('<p>x', '<p>x', [before, after])).toEqual(NOTHING);
  });

  it('shows a difference with the characters that the page has', async () => {
    expect(await compare('<p>10&nbsp;€', '<p>12&nbsp;€', ['10\u00a0€', '12\u00a0€'])).toMatchObject({
      lines: '@@ -1,1 +1,1 @@\n-10\u00a0€\n+12\u00a0€\n',
      title: { from: '10\u00a0€', to: '12\u00a0€' },
      elements: [{ kind: 'edited', text: { from: '10 €', to: '12 €' } }],
    });
  });

  it('ignores texts as people write them', async () => {
    const ignore = `&ignore=${encodeURIComponent('text:Updated * ago')}&ignore=${encodeURIComponent('text:Café *')}`;
    const page = (minutes: number, guest: string) =>
      `<p>Upda&shy;ted&nbsp;${minutes} min ago<p>Cafe\u0301&nbsp;${guest}`;
    const { lines } = await compare(page(3, 'Ann'), page(9, 'Bob'), ['A', 'A'], ignore);
    expect(lines).toBe('');
  });

  it('ignores the texts of elements, however they are written', async () => {
    const page = (time: string) => `<p>12&nbsp;€<p id=clock>Stand der&nbsp;Da&shy;ten: <b>${time}</b><wbr> Uhr<p>Ende`;
    const { lines } = await compare(page('12:00'), page('12:30'), ['A', 'A'], '&ignore=selector:%23clock');
    expect(lines).toBe('');
  });
});
