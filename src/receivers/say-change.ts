import type { RunFacts } from './event-facts.ts';
import { isolated } from './transports/plain-text.ts';

const and = new Intl.ListFormat('en', { type: 'conjunction' });

/** Parts of a page, as sentences name them. */
const PARTS: Readonly<Record<string, string>> = {
  text: 'the text',
  links: 'the links',
  elements: 'the watched elements',
  status: 'the HTTP status',
  title: 'the title',
};

/** Says what a run of a watch found: `Price fell from €59.00 to €47.50`, `2 regions changed, 3 % of the image`. */
export function sayChange({ changed, share, regions, verdict, reason }: RunFacts): string {
  const parts = [
    ...(changed.includes('values') && reason !== null ? [isolated(reason)] : []),
    ...(changed.includes('visual') ? [sayRegions(regions.length, share)] : []),
    ...(changed.includes('verdict') ? [`the page is now ${(verdict ?? 'unknown').replace('_', ' ')}`] : []),
  ];
  const others = changed.flatMap((name) => PARTS[name] ?? []);
  if (others.length > 0) parts.push(`${and.format(others)} changed`);
  const sentence = parts.length === 0 ? 'the page has changed' : parts.join('; ');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function sayRegions(count: number, share: number | null): string {
  const regions = count === 0 ? 'the image changed' : count === 1 ? '1 region changed' : `${count} regions changed`;
  if (share === null) return regions;
  const percent = share * 100;
  const shown =
    percent < 0.1 ? 'less than 0.1' : percent < 10 ? String(Number(percent.toFixed(1))) : percent.toFixed(0);
  return `${regions}, ${shown} % of the image`;
}
