import { z } from 'zod';
import { areaOf, areaOutside } from '../../capture/comparison/boxes.ts';
import { type LinkDifference, MAX_DIFFERENT_LINKS } from '../../capture/comparison/comparison.ts';
import type { PageElement } from './elements/page-tree.ts';

const box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).nullable();
const Links = z.object({ links: z.array(z.object({ href: z.string(), box })) });

/** A link does not count when at least this share of it is in ignored elements. */
const MOST = 0.9;

/** Compares the URLs of two outputs `links`, without links in ignored elements. */
export function compareLinks(
  before: string,
  after: string,
  ignored: Readonly<Record<'a' | 'b', ReadonlySet<PageElement>>> | null,
): LinkDifference {
  const [a, b] = [urlsIn(before, ignored?.a), urlsIn(after, ignored?.b)];
  const [added, removed] = [[...b.difference(a)], [...a.difference(b)]];
  return {
    added: added.slice(0, MAX_DIFFERENT_LINKS),
    removed: removed.slice(0, MAX_DIFFERENT_LINKS),
    truncated: Math.max(added.length, removed.length) > MAX_DIFFERENT_LINKS,
  };
}

function urlsIn(output: string, ignored: ReadonlySet<PageElement> = new Set()): Set<string> {
  const boxes = [...ignored].flatMap((element) => element.box ?? []);
  const { links } = Links.parse(JSON.parse(output));
  const counts = links.filter(
    (link) => link.box === null || areaOutside(link.box, boxes) > areaOf(link.box) * (1 - MOST),
  );
  return new Set(counts.map(({ href }) => href));
}
