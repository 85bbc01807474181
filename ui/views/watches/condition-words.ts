import type { Watch } from '../../api/types.ts';
import { conditionDraftOf, isByAmount, OPERATORS } from './form/value-drafts.ts';

const COMPARED: Readonly<Record<string, string>> = {
  visual: 'the screenshot',
  text: 'the text',
  links: 'the links',
  elements: 'an element',
  title: 'the title',
  status: 'the status',
  verdict: 'the verdict',
};

/** Returns the changes that a watch tells, in words: `price falls below 50, or the screenshot changes`. */
export function tellsOf({ values, when, compare }: Pick<Watch, 'values' | 'when' | 'compare'>): string {
  const compared = Object.entries(COMPARED).flatMap(([name, words]) => (compare[name] ? [words] : []));
  const ofValues =
    values === null ? [] : [when === null ? `${Object.keys(values).join(' or ')} changes` : wordsOf(when)];
  const ofPage = compared.length === 0 ? [] : [`${compared.join(' or ')} changes`];
  return [...ofValues, ...ofPage].join(', or ');
}

/** Returns conditions in words: `price falls below 50 and stock is InStock`. */
function wordsOf(when: unknown, isInner = false): string {
  const [joint, inner] = typeof when === 'object' && when !== null ? (Object.entries(when)[0] ?? []) : [];
  if ((joint === 'all' || joint === 'any') && Array.isArray(inner)) {
    const all = inner.map((each) => wordsOf(each, inner.length > 1)).join(joint === 'all' ? ' and ' : ' or ');
    return isInner && inner.length > 1 ? `(${all})` : all;
  }
  const condition = conditionDraftOf(when);
  if (condition === undefined) return 'a condition of the API holds';
  const { value, operator, against, since } = condition;
  const than = against === '' ? '' : isByAmount(operator) ? ` by ${against}` : ` ${against}`;
  return `${value} ${OPERATORS[operator]}${than}${since === 'baseline' ? ' since it was last told' : ''}`;
}
