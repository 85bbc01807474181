import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../../capture/deadline.ts';
import type { Change, Wanted as WantedHere } from '../../page-scripts/changes/change.ts';
import { evaluate, unblocked, untilAnswered } from '../asking/ask-page.ts';
import { type Call, call } from '../asking/page-scripts.ts';
import { searchedDocuments } from '../find/documents.ts';
import { prepare } from '../find/prepared-frames.ts';
import type { EvaluatedFrame } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { CHAT_WIDGETS } from './chat-widgets.ts';
import { drawnElsewhere } from './drawn.ts';
import type { ShotPlan } from './shot-plan.ts';
import { FRAME_MS } from './visible-box.ts';

/** Elements to change: those that a selector matches, or those of a kind in the page itself. */
type Wanted = { readonly selector: string } | Extract<WantedHere, string>;

const bySelector = (selector: string): Wanted => ({ selector });

/**
 * Hides and masks the requested elements in the current page and its frames. Call it after the HTML snapshot has been
 * read, right before the screenshot, with `maskWhole` when the window changes its height for it. Ignores a selector
 * without a match. Resolves when frames of other processes have drawn, changed or not.
 */
export async function hideAndMask(
  page: IsolatedPage,
  { hide = [], hideFixed, hideChats, hidePopups, mask = [] }: ShotPlan['hides'],
  deadline: Deadline,
  how: 'mask' | 'maskWhole' = 'mask',
): Promise<void> {
  const hidden = [
    ...hide.map(bySelector),
    ...(hideChats ? [bySelector(CHAT_WIDGETS)] : []),
    ...(hidePopups ? ['popups' as const] : []),
    ...(hideFixed ? ['fixed' as const] : []),
  ];
  await change(page, hidden, 'hide', deadline);
  if (hideFixed) await change(page, ['sticky'], 'unstick', deadline);
  await change(page, mask.map(bySelector), how, deadline);
  await drawnElsewhere(page, deadline);
}

/** Leaves the requested elements out of the layout. Call it before the page is measured. Otherwise as `hideAndMask`. */
export async function collapse(
  page: IsolatedPage,
  { collapse: wanted = [] }: ShotPlan['hides'],
  deadline: Deadline,
): Promise<void> {
  await change(page, wanted.map(bySelector), 'collapse', deadline);
}

/** Changes elements in every document that has some. A document that was replaced meanwhile is changed again. */
async function change(page: IsolatedPage, wanted: readonly Wanted[], how: Change, deadline: Deadline): Promise<void> {
  if (wanted.length === 0) return;
  await untilAnswered(deadline, 'hide and mask', async () => {
    const documents = await documentsOf(page, wanted, deadline);
    if (documents === undefined) return undefined;
    const changing = documents.map(({ document, here }) => {
      // From here on the document's scripts are off, so they can neither notice nor undo anything.
      document.session.post('Emulation.setScriptExecutionDisabled', { value: true });
      return unblocked(document, deadline, changeIn(page, document, call('changeElements', here, how)));
    });
    return (await Promise.all(changing)).includes(undefined) ? undefined : true;
  });
}

/** Resolves with true when a document is changed. A mask waits for a frame, which tells what is visible. */
async function changeIn(page: IsolatedPage, document: EvaluatedFrame, changing: Call): Promise<unknown> {
  let answer = await prepare(page, document, changing);
  while (answer === false) {
    await delay(FRAME_MS);
    answer = await evaluate(document, call('finishMask'));
  }
  return answer;
}

/** Resolves with the documents that have elements to change, each with what is wanted there. */
async function documentsOf(page: IsolatedPage, wanted: readonly Wanted[], deadline: Deadline) {
  const documents = new Map<string, { readonly document: EvaluatedFrame; readonly here: WantedHere[] }>();
  const add = (document: EvaluatedFrame, each: WantedHere) => {
    const known = documents.get(document.frame.id) ?? { document, here: [] };
    documents.set(document.frame.id, known);
    known.here.push(each);
  };
  for (const each of wanted) {
    if (typeof each === 'string') {
      add(page, each);
      continue;
    }
    const searched = await searchedDocuments(page, each.selector, deadline);
    if (searched === undefined) return undefined;
    for (const document of searched) add(document, document.steps);
  }
  return [...documents.values()];
}
