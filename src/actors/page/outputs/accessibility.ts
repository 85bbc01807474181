import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import type { Output } from '../../../capture/snapshot.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { PageSession } from '../page-session.ts';
import type { Reading } from './reading.ts';

type AXNode = Protocol.Accessibility.AXNode;

/** Maximum number of nodes of the document. The browser builds the whole tree before it answers. */
const MAX_NODES = 50_000;
/** Numbers of levels to request, tried in turn until the answer is small enough. */
const DEPTHS = [undefined, 24, 12, 6, 3] as const;
/** Boxes of lines, which only repeat the words of their text. */
const LINE_ROLE = 'InlineTextBox';

/** A node as it is written. */
interface Told {
  readonly id: number;
  readonly parent: number | null;
  readonly role: string;
  readonly name: string;
  readonly description?: string;
  readonly value?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Lists the nodes of the page's accessibility tree in reading order. */
export async function readAccessibility({ page: { session } }: Reading): Promise<Output> {
  const { nodes } = await session.send('Memory.getDOMCounters');
  if (nodes > MAX_NODES) throw new RangeError(`the page has ${nodes} nodes`);
  const { tree, partial } = await treeOf(session);
  await nextTurn();
  return { content: `${JSON.stringify({ nodes: listed(tree) }, null, 1)}\n`, partial };
}

async function treeOf(session: PageSession): Promise<{ readonly tree: readonly AXNode[]; readonly partial: boolean }> {
  for (const depth of DEPTHS) {
    try {
      const { nodes } = await session.sendForShort('Accessibility.getFullAXTree', depth === undefined ? {} : { depth });
      return { tree: nodes, partial: depth !== undefined };
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
    }
  }
  throw new RangeError('the accessibility tree is too large');
}

/**
 * Not recursive: a page can nest its elements to any depth. Lists each node once: a compromised renderer could send a
 * cycle.
 */
function listed(tree: readonly AXNode[]): readonly Told[] {
  const byId = new Map(tree.map((node) => [node.nodeId, node]));
  const root = tree.find(({ parentId }) => parentId === undefined);
  const waiting: { readonly node: AXNode; readonly parent: number | null }[] = [];
  if (root !== undefined) waiting.push({ node: root, parent: null });
  if (root !== undefined) byId.delete(root.nodeId);
  const told: Told[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    if (node.role?.value === LINE_ROLE) continue;
    const id = node.ignored ? next.parent : told.length;
    if (!node.ignored) told.push(written(node, told.length, next.parent));
    for (const child of (node.childIds ?? []).toReversed()) {
      const below = byId.get(child);
      if (below === undefined) continue;
      byId.delete(child);
      waiting.push({ node: below, parent: id });
    }
  }
  return told;
}

function written({ role, name, description, value, properties = [] }: AXNode, id: number, parent: number | null): Told {
  const states = properties.flatMap(({ name, value }) => (value.value === undefined ? [] : [[name, value.value]]));
  return {
    id,
    parent,
    role: String(role?.value ?? ''),
    name: String(name?.value ?? '').toWellFormed(),
    ...(description?.value && { description: String(description.value).toWellFormed() }),
    ...(value?.value !== undefined && { value: value.value }),
    ...(states.length > 0 && { properties: Object.fromEntries(states) }),
  };
}
