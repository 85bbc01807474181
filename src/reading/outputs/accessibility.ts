import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import type { Output } from '../../capture/result/snapshot.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { NestedFrame } from '../../page/find/documents.ts';
import type { EvaluatedFrame } from '../../page/frames/page-session.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import { MAX_FRAMES, type Room, readFrames, roomForFrames } from '../documents/frames.ts';
import type { Reading } from '../documents/reading.ts';

type AXNode = Protocol.Accessibility.AXNode;

/** Maximum number of nodes in a process. The browser builds the whole tree of a document before it answers. */
const MAX_NODES = 50_000;
/** Numbers of levels to request, tried in turn until the answer is small enough. */
const DEPTHS = [undefined, 24, 12, 6, 3] as const;
/** Boxes of lines, which only repeat the words of their text. */
const LINE_ROLE = 'InlineTextBox';
const FRAME_ROLES: readonly unknown[] = ['Iframe', 'IframePresentational'];

/** A node as it is written. */
interface WrittenNode {
  readonly id: number;
  readonly parent: number | null;
  readonly role: string;
  readonly name: string;
  readonly description?: string;
  readonly value?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
}

interface Found {
  readonly nodes: readonly WrittenNode[];
  readonly partial: boolean;
}

/**
 * Lists the nodes of the page's accessibility tree in reading order, those of a frame after the node of its element.
 */
export async function readAccessibility({ page, ms }: Reading): Promise<Output> {
  const document = { session: page.session, frame: page.frame, entrance: undefined };
  const { nodes, partial } = await readTree(page, document, ms);
  await nextTurn();
  return { content: `${JSON.stringify({ nodes }, null, 1)}\n`, partial };
}

/** Reads the tree of a document and of its frames. */
async function readTree(
  page: IsolatedPage,
  document: NestedFrame,
  ms: number,
  { depth, room }: { readonly depth: number; readonly room: Room } = { depth: 0, room: roomForFrames() },
): Promise<Found> {
  const startedAt = performance.now();
  const { nodes: count } = await document.session.send('Memory.getDOMCounters');
  if (count > MAX_NODES) throw new RangeError(`the page has ${count} nodes`);
  const { tree, partial } = await treeOf(document);
  await nextTurn();
  const { nodes, frames } = listed(tree);
  if (document.entrance !== undefined) room.characters -= JSON.stringify(nodes).length;
  if (room.characters < 0) throw new RangeError('the accessibility trees of frames are too large');
  const elements = frames.slice(0, MAX_FRAMES);
  const inside = await readFrames(
    { page, from: document, depth, room, ms: ms - (performance.now() - startedAt) },
    () => Promise.all(elements.map(({ backendNodeId }) => frameIdOf(document, backendNodeId))),
    (inner, frameMs) => readTree(page, inner, frameMs, { depth: depth + 1, room }),
  );
  const trees = new Map(frames.map(({ id }, at) => [id, inside[at] ?? null]));
  const isPartial = [...trees.values()].some((each) => each === null || each.partial);
  return { nodes: joined(nodes, trees), partial: partial || isPartial };
}

/** Resolves with undefined when the element was removed meanwhile. */
async function frameIdOf({ session }: EvaluatedFrame, backendNodeId: number): Promise<string | undefined> {
  const answer = await session.send('DOM.describeNode', { backendNodeId }).catch(() => undefined);
  return answer?.node.frameId;
}

async function treeOf({ session, frame }: EvaluatedFrame): Promise<{
  readonly tree: readonly AXNode[];
  readonly partial: boolean;
}> {
  for (const depth of DEPTHS) {
    try {
      const { nodes } = await session.sendForShort('Accessibility.getFullAXTree', {
        frameId: frame.id,
        ...(depth !== undefined && { depth }),
      });
      return { tree: nodes, partial: depth !== undefined };
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
    }
  }
  throw new RangeError('the accessibility tree is too large');
}

/** Puts the trees of frames under the nodes of their elements, which have no other children. */
function joined(nodes: readonly WrittenNode[], trees: ReadonlyMap<number, Found | null>): readonly WrittenNode[] {
  if (trees.size === 0) return nodes;
  const whole: WrittenNode[] = [];
  const moved: number[] = [];
  for (const node of nodes) {
    const id = whole.length;
    moved.push(id);
    whole.push({ ...node, id, parent: node.parent === null ? null : (moved[node.parent] ?? null) });
    for (const each of trees.get(node.id)?.nodes ?? []) {
      whole.push({ ...each, id: id + 1 + each.id, parent: each.parent === null ? id : id + 1 + each.parent });
    }
  }
  return whole;
}

/** The element of a frame, and the id of its node. */
interface FrameElement {
  readonly id: number;
  readonly backendNodeId: number;
}

/**
 * Not recursive: a page can nest its elements to any depth. Lists each node once: a compromised renderer could send a
 * cycle.
 */
function listed(tree: readonly AXNode[]): {
  readonly nodes: readonly WrittenNode[];
  readonly frames: readonly FrameElement[];
} {
  const byId = new Map(tree.map((node) => [node.nodeId, node]));
  const root = tree.find(({ parentId }) => parentId === undefined);
  const waiting: { readonly node: AXNode; readonly parent: number | null }[] = [];
  if (root !== undefined) waiting.push({ node: root, parent: null });
  if (root !== undefined) byId.delete(root.nodeId);
  const nodes: WrittenNode[] = [];
  const frames: FrameElement[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    if (node.role?.value === LINE_ROLE) continue;
    const id = node.ignored ? next.parent : nodes.length;
    const { backendDOMNodeId: backendNodeId } = node;
    if (FRAME_ROLES.includes(node.role?.value) && !node.ignored && backendNodeId !== undefined) {
      frames.push({ id: nodes.length, backendNodeId });
    }
    if (!node.ignored) nodes.push(written(node, nodes.length, next.parent));
    for (const child of (node.childIds ?? []).toReversed()) {
      const below = byId.get(child);
      if (below === undefined) continue;
      byId.delete(child);
      waiting.push({ node: below, parent: id });
    }
  }
  return { nodes, frames };
}

function written(
  { role, name, description, value, properties = [] }: AXNode,
  id: number,
  parent: number | null,
): WrittenNode {
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
