import { z } from 'zod';
import { type LinkDifference, MAX_DIFFERENT_LINKS } from '../../capture/comparison.ts';

const Links = z.object({ links: z.array(z.object({ href: z.string() })) });

/** Compares the URLs of two outputs `links`. */
export function compareLinks(before: string, after: string): LinkDifference {
  const [a, b] = [urlsIn(before), urlsIn(after)];
  const [added, removed] = [[...b.difference(a)], [...a.difference(b)]];
  return {
    added: added.slice(0, MAX_DIFFERENT_LINKS),
    removed: removed.slice(0, MAX_DIFFERENT_LINKS),
    truncated: Math.max(added.length, removed.length) > MAX_DIFFERENT_LINKS,
  };
}

function urlsIn(output: string): Set<string> {
  return new Set(Links.parse(JSON.parse(output)).links.map(({ href }) => href));
}
