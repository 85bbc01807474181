import { CdpError } from '../../cdp/connection.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Time for handlers of events: longer than they usually wait for the end of scrolling or resizing. */
export const HANDLER_MS = 150;
/** Events that a page receives when its window is scrolled. */
const SCROLL_EVENTS: ReadonlySet<string> = new Set(['scroll', 'scrollend']);
const RESIZE_EVENTS: ReadonlySet<string> = new Set(['resize']);
/** Number of levels searched for listeners: the document, its root and its body. */
const DEPTH = 3;

/**
 * Returns whether the page listens to scroll events of its window. Such a handler often examines the page only some
 * time later, and then finds only the elements that are in the window at that time. An observer is called every frame.
 */
export const hearsScrolling = (page: IsolatedPage): Promise<boolean> => hears(page, SCROLL_EVENTS);

/** Returns whether the page listens to changes of its window's size. */
export const hearsResizing = (page: IsolatedPage): Promise<boolean> => hears(page, RESIZE_EVENTS);

async function hears({ session }: IsolatedPage, events: ReadonlySet<string>): Promise<boolean> {
  const listensTo = async (expression: 'window' | 'document'): Promise<boolean> => {
    // Evaluated in the page's own world, because only its listeners are listed. A page can redefine neither name.
    const { result } = await session.send('Runtime.evaluate', { expression });
    if (result.objectId === undefined) return true;
    const { listeners } = await session.send('DOMDebugger.getEventListeners', {
      objectId: result.objectId,
      depth: DEPTH,
    });
    return listeners.some(({ type }) => events.has(type));
  };
  try {
    return (await Promise.all([listensTo('window'), listensTo('document')])).includes(true);
  } catch (error) {
    // The document was replaced.
    if (error instanceof CdpError) return true;
    throw error;
  }
}
