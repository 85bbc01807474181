import type { Protocol } from 'devtools-protocol';
import { CdpError } from '../../cdp/connection.ts';
import { contextIn } from '../asking/ask-page.ts';
import { functionOf } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum number of closed shadow trees that are looked into. */
const MAX_TREES = 1_000;

/**
 * Removes breaks between pages in closed shadow trees, which scripts do not find, and in those within them. They stay
 * in a document whose description is larger than 4 MiB or too deep for Chromium.
 */
export async function removeBreaksInClosedTrees(page: IsolatedPage): Promise<void> {
  const { session } = page;
  try {
    const described = session.sendForShort('DOM.getDocument', { depth: -1, pierce: true });
    session.post('DOM.disable');
    const trees = closedTrees((await described).root).slice(0, MAX_TREES);
    if (trees.length === 0) return;
    const executionContextId = await contextIn(page);
    const resolved = await Promise.all(
      trees.map(({ backendNodeId }) => session.send('DOM.resolveNode', { backendNodeId, executionContextId })),
    );
    await session.send('Runtime.callFunctionOn', {
      functionDeclaration: functionOf('removeBreaks'),
      arguments: resolved.flatMap(({ object: { objectId } }) => (objectId === undefined ? [] : { objectId })),
      executionContextId,
    });
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
  }
}

/** Returns the closed shadow trees of the document, and those in them. */
function closedTrees(root: Protocol.DOM.Node): Protocol.DOM.Node[] {
  const found: Protocol.DOM.Node[] = [];
  const left = [{ node: root, isClosed: false }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, isClosed } = next;
    for (const child of node.children ?? []) left.push({ node: child, isClosed });
    for (const tree of node.shadowRoots ?? []) {
      if (tree.shadowRootType === 'user-agent') continue;
      const inner = { node: tree, isClosed: isClosed || tree.shadowRootType === 'closed' };
      if (inner.isClosed) found.push(tree);
      left.push(inner);
    }
  }
  return found;
}
