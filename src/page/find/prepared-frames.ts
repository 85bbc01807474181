import type { Deadline } from '../../capture/deadline.ts';
import { evaluate, unblocked } from '../asking/ask-page.ts';
import { type Call, call, inTurn } from '../asking/page-scripts.ts';
import type { EvaluatedFrame } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/**
 * Evaluates an expression in a document, and marks the document in the same moment as prepared for the screenshot.
 * Resolves as `evaluate` does.
 */
export async function prepare(page: IsolatedPage, document: EvaluatedFrame, expression: Call): Promise<unknown> {
  const answer = await evaluate(document, inTurn(call('markPrepared'), expression));
  if (document.frame.id !== page.frame.id) page.visit.preparedFrames.set(document.frame.id, document);
  return answer;
}

/** Resolves with whether every prepared frame still shows the document that was prepared. */
export async function arePrepared(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  const asking = [...page.visit.preparedFrames.values()].map((document) =>
    unblocked(document, deadline, evaluate(document, call('isPrepared'))),
  );
  const answers = await deadline.step('look after the frames', Promise.all(asking));
  return answers.every((each) => each === true);
}
