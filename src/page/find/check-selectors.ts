import { z } from 'zod';
import { parseSelector } from '../../capture/comparison/selector.ts';
import type { ExtractRules } from '../../capture/options/extract.ts';
import { notASelector } from '../../capture/options/fields.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { refusal } from '../../capture/validate.ts';
import { call, type ResultOf } from '../asking/page-scripts.ts';
import type { PageSession } from '../frames/page-session.ts';

const answer: z.ZodType<ResultOf<'checkSelectors'>> = z.array(z.boolean());

/** A selector of a request, and the path of the option that holds it. */
type Named = readonly [path: string, selector: string | undefined];

/**
 * Rejects with `invalid_request` when the browser refuses a selector of the request. Call it before the page is
 * navigated, so that the target gets no request in vain.
 */
export async function checkSelectors(session: PageSession, request: CaptureRequest): Promise<void> {
  const named = selectorsOf(request).flatMap(([path, selector]) =>
    selector === undefined ? [] : [{ path, selector, steps: parseSelector(selector) }],
  );
  if (named.length === 0) return;
  // In the world of the empty document, which has no scripts of its own.
  const expression = call(
    'checkSelectors',
    named.map(({ steps }) => steps),
  );
  const { result } = await session.send('Runtime.evaluate', { expression, returnByValue: true });
  const refused = answer.parse(result.value);
  const problems = named
    .filter((_, at) => refused[at])
    .map(({ path, selector }) => ({ path, message: notASelector(selector, 'the browser refuses it') }));
  if (problems.length > 0) throw refusal(problems);
}

function selectorsOf(request: CaptureRequest): readonly Named[] {
  const listed = (['hide', 'collapse', 'mask'] as const).flatMap((option) =>
    (request[option] ?? []).map((selector, at): Named => [`${option}[${at}]`, selector]),
  );
  return [
    ['selector', request.selector],
    ['waitForSelector', request.waitForSelector],
    ...listed,
    ...(request.actions ?? []).map(
      (action, at): Named => [`actions[${at}].selector`, 'selector' in action ? action.selector : undefined],
    ),
    ['form.selector', request.form?.selector],
    ['markdown.selector', request.markdown?.selector],
    ...ofRules(request.extract, 'extract'),
  ];
}

function ofRules(rules: ExtractRules = {}, path: string): readonly Named[] {
  return Object.entries(rules).flatMap(([name, rule]): readonly Named[] => [
    [`${path}.${name}.selector`, rule.selector],
    ...ofRules(rule.rules, `${path}.${name}.rules`),
  ]);
}
