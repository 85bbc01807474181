import type { Protocol } from 'devtools-protocol';
import { CdpError } from '../../cdp/connection.ts';
import { READING_WORLD } from '../asking/ask-page.ts';
import { functionOf } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum number of closed shadow trees that are looked into. */
const MAX_TREES = 1_000;

/** Removes breaks between pages in closed shadow trees, which scripts do not find, and in those within them. */
export async function removeHiddenBreaks({ session, frame }: IsolatedPage): Promise<void> {
  try {
    const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true });
    session.post('DOM.disable');
    const trees = hiddenTrees(root).slice(0, MAX_TREES);
    if (trees.length === 0) return;
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frame.id,
      worldName: READING_WORLD,
    });
    for (const { backendNodeId } of trees) {
      const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId });
      if (object.objectId === undefined) continue;
      await session.send('Runtime.callFunctionOn', {
        functionDeclaration: functionOf('removeBreaks'),
        arguments: [{ objectId: object.objectId }],
        executionContextId,
      });
    }
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
  }
}

/** Returns the closed shadow trees of the document, and those in them. */
function hiddenTrees(root: Protocol.DOM.Node): Protocol.DOM.Node[] {
  const found: Protocol.DOM.Node[] = [];
  const left = [{ node: root, isHidden: false }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, isHidden } = next;
    for (const child of node.children ?? []) left.push({ node: child, isHidden });
    for (const tree of node.shadowRoots ?? []) {
      if (tree.shadowRootType === 'user-agent') continue;
      const isClosed = isHidden || tree.shadowRootType === 'closed';
      if (isClosed) found.push(tree);
      left.push({ node: tree, isHidden: isClosed });
    }
  }
  return found;
}
