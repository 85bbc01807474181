import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SoftwareSigns } from '../../src/capture/result/host-facts.ts';
import { findTechnologies } from '../../src/technologies/find-technologies.ts';
import { literalIn } from '../../src/technologies/literal.ts';
import { readRulesFile, rulesIn } from '../../src/technologies/rules-file.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { NO_SIGNS } from './no-signs.ts';

async function found(json: unknown, signs: Partial<SoftwareSigns>): Promise<readonly string[]> {
  const technologies = await findTechnologies({ ...NO_SIGNS, ...signs }, undefined, rulesIn(json).rules);
  return technologies.map(({ name, version, sign }) => `${name} ${version} ${sign}`);
}

const RULES = {
  Harbour: {
    cats: [1],
    headers: { 'X-Harbour': '^([\\d.]+)$\\;version:\\1' },
    cookies: { 'harbour_*': '' },
    meta: { generator: 'Quay ([\\d.]+)\\;version:\\1' },
    scriptSrc: ['harbour-([\\d.]+)(\\.min)?\\.js\\;version:\\1', '/lib/harbour/'],
    js: { 'Harbour.version': '' },
    implies: 'PHP',
  },
  Lamp: { scriptSrc: 'lamp(-pro)?\\.js\\;version:\\1?pro:plain' },
  Guess: { title: 'Lamp\\;confidence:10' },
};

describe('rules in the format of Wappalyzer', () => {
  it.each<[Partial<SoftwareSigns>, readonly string[]]>([
    [{ headers: [{ name: 'x-harbour', value: '2.1' }] }, ['Harbour 2.1 header']],
    [{ headers: [{ name: 'x-harbour', value: 'no' }] }, []],
    [{ cookies: [{ name: 'harbour_session', value: 'x' }] }, ['Harbour  cookie']],
    [{ scripts: ['https://page.example/HARBOUR-2.1.min.js'] }, ['Harbour 2.1 script']],
    [{ scripts: ['https://page.example/lib/harbour/a.js'] }, ['Harbour  script']],
    [{ scripts: ['https://page.example/lamp-pro.js'] }, ['Lamp pro script']],
    [{ scripts: ['https://page.example/lamp.js'] }, ['Lamp plain script']],
    [{ title: 'Lamp' }, []],
  ])('name the software of %j', async (signs, expected) => {
    expect(await found(RULES, signs)).toEqual(expected);
    expect(await found({ technologies: RULES }, signs)).toEqual(expected);
  });

  it('leave out patterns that need more than linear time, and count them', () => {
    const { rules, omitted } = rulesIn({ A: { scriptSrc: ['a(?=b)', '(a)\\1', 'a'.repeat(5_000), 'plain'] } });
    expect([rules[0]?.scripts?.length, omitted]).toEqual([1, 3]);
  });

  it('take linear time for patterns on which others hang', async () => {
    const json = { Slow: { scriptSrc: ['(a+)+$', '(a|aa)+$', '(.*)*x'], title: ['^(\\w+\\s?)*$'] } };
    const hostile = { scripts: [`https://page.example/${'a'.repeat(900)}!`], title: `${'a '.repeat(400)}!` };
    expect(await found(json, hostile)).toEqual(['Slow  script']);
  });

  it('let other requests have turns while a page has the texts of all patterns', async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `lib${at}x`);
    const json = Object.fromEntries(
      names.map((name) => [name, { scriptSrc: `${name}(?:-|\\.)([\\d.]*\\d)[^/]*\\.js` }]),
    );
    const scripts = Array.from({ length: 100 }, (_, at) => `https://page.example/${names.slice(at * 20).join('/')}`);
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    expect(await found(json, { scripts: scripts.map((url) => url.slice(0, 512)) })).toEqual([]);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(1);
  });

  it.each([
    ['[]', 'the file'],
    ['{"A": {"headers": []}}', 'A.headers'],
    ['{"A": 5}', 'A'],
    ['{"apps": "x"}', 'the file'],
    ['no JSON', 'JSON'],
  ])('are refused when the file is %s', async (text, reason) => {
    const path = join(await makeDirectory(), 'rules.json');
    await writeFile(path, text);
    await expect(readRulesFile(path)).rejects.toThrow(reason);
  });

  it.each([
    ['jquery[.-]([\\d.]+)\\.min\\.js', '.min.js'],
    ['wp-(?:content|includes)/x', 'wp-'],
    ['abcd?e', 'abc'],
    ['ab|abc', undefined],
    ['(?:abc)?de', undefined],
    ['\\d+\\.js', '.js'],
    ['a{0,3}bcd', 'bcd'],
    ['[abc]defg', 'defg'],
    ['[\\]x]defg', 'defg'],
  ])('need for %s the text %s', (pattern, literal) => {
    expect(literalIn(pattern)).toBe(literal);
  });

  it('match no text without that', () => {
    const part = fc.constantFrom('a', 'b', 'c', 'ab', '.', '[ab]', '(a|b)', '(?:bc)', '\\.', '\\d');
    const piece = fc.tuple(part, fc.constantFrom('', '?', '*', '+', '{0,2}')).map((pair) => pair.join(''));
    const pattern = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', '1'), maxLength: 20 });
    fc.assert(
      fc.property(pattern, text, (source, value) => {
        const literal = literalIn(source);
        return literal === undefined || !new RegExp(source, 'i').test(value) || value.includes(literal);
      }),
      { numRuns: 5_000 },
    );
  });
});
