import { sentResult } from '../../capture/artifacts/artifact-paths.ts';
import { CapstanError, toFailure } from '../../capture/errors.ts';
import { type MarksChange, MarksChangeSchema } from '../../capture/finding/marks.ts';
import type { ResultConditions } from '../../capture/finding/result-conditions.ts';
import type { Result } from '../../capture/result/result.ts';
import { overHttp, type Target } from '../../capture/target.ts';
import { refusal } from '../../capture/validate.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { endsList, keysetOf, LISTED_TOGETHER, type ResultFilter } from '../../storage/ports/result-store.ts';
import { answer } from '../answer/envelope.ts';
import { inTurn } from '../answer/long-answers.ts';
import { MarkedSchema, ResultSchema } from '../answer/schemas.ts';
import { goneSignal } from '../connection/client-gone.ts';
import { callerOf, requireScope } from '../keys/callers.ts';
import { envelope } from '../openapi/content.ts';
import { keysetCursor } from '../request/cursor.ts';
import {
  captureId,
  conditionParameters,
  DEFAULT_LIMIT,
  hostPrefix,
  keysetCursorParameter,
  limitParameter,
  targetUrl,
} from '../request/parameters.ts';
import { requestedBy } from '../request/requested-by.ts';
import { routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Labels, notes and holds. A key changes those of its own captures; an administrator changes all, and sets holds. */

const CHANGED_TOGETHER = 8;

const RULES =
  'A key without the scope `admin` changes only captures that it has requested itself, and sets and lifts no hold.';

const body = { name: 'MarksChange', schema: () => MarksChangeSchema } as const;

export const patchScreenshot = routeWithBody({
  method: 'PATCH',
  path: '/screenshot/{id}',
  operationId: 'markCapture',
  scope: 'capture',
  summary: 'Changes the labels and the note of a capture, and sets or lifts its hold.',
  description: `A held capture is not removed, neither by limits nor by \`DELETE\`. ${RULES} The marks are also in the record that is kept with the files, from which a lost database is rebuilt.`,
  tag: 'capture',
  needsDatabase: true,
  parameters: { id: captureId },
  body,
  answers: { 200: { description: 'The result with its new marks.', content: envelope('Result', ResultSchema) } },
  failures: [
    'invalid_id',
    'not_found',
    'artifact_elsewhere',
    'artifact_pending',
    'storage_full',
    'storage_unavailable',
  ],
  handle: async (ctx, { parameters: { id }, body: change }, { service }) => {
    ctx.state.captureId = id;
    requireRight(ctx, change);
    const found = await service.results.get(id);
    if (found === undefined) throw await whyNoRecord(service, id);
    if (!isChangeable(ctx, found)) {
      const reason = `The capture ${id} was requested with another API key, and this needs the scope admin.`;
      throw new CapstanError('key_not_permitted', reason);
    }
    const marked = await service.mark(id, change, requestedBy(ctx));
    if (marked === undefined) throw await whyNoRecord(service, id);
    answer(ctx, sentResult(marked), 'The marks are changed.');
  },
});

export const patchResults = routeWithBody({
  method: 'PATCH',
  path: '/results',
  operationId: 'markCaptures',
  scope: 'capture',
  summary: 'Changes the labels, notes and holds of the captures that meet conditions, newest first.',
  description: `Takes the conditions of \`GET /results\`, and \`url\` or \`host\`; at least one. \`next\` in the answer is the cursor for the captures that are left: those beyond \`limit\`, or all that follow when the database fails midway. ${RULES} Others are left out.`,
  tag: 'results',
  needsDatabase: true,
  parameters: {
    url: targetUrl.optional(),
    host: hostPrefix.optional(),
    ...conditionParameters,
    limit: limitParameter(String(DEFAULT_LIMIT)),
    cursor: keysetCursorParameter,
  },
  body,
  answers: { 200: { description: 'What was changed.', content: envelope('Marked', MarkedSchema) } },
  handle: async (ctx, { parameters, body: change }, { service }) => {
    const { limit = DEFAULT_LIMIT, cursor, ...conditions } = parameters;
    requireRight(ctx, change);
    const filter = filterOf(ctx, conditions);
    const { gone, release } = goneSignal(ctx);
    const { owner } = callerOf(ctx);
    const failed: { id: number; code: string; error: string }[] = [];
    let changed = 0;
    let last: Result | undefined;
    let isCut = false;
    const markOne = async (result: Result) => {
      try {
        if ((await service.mark(result.id, change, requestedBy(ctx))) !== undefined) changed += 1;
      } catch (error) {
        if (!(error instanceof CapstanError) || error.code === 'database_unavailable') throw error;
        const { code, reason } = toFailure(error);
        failed.push({ id: result.id, code, error: reason });
      }
    };
    try {
      for (let left = limit, after = cursor; left > 0 && !gone.aborted; ) {
        const wanted = Math.min(LISTED_TOGETHER, left);
        const from = after;
        const page = await inTurn(owner, () => service.results.page(filter, wanted + 1, from));
        const these = page.slice(0, wanted);
        isCut = true;
        for (let at = 0; at < these.length && !gone.aborted; at += CHANGED_TOGETHER) {
          const together = these.slice(at, at + CHANGED_TOGETHER);
          await inTurn(owner, () => Promise.all(together.map(markOne)));
          last = together.at(-1);
        }
        left -= these.length;
        isCut = !endsList(page, wanted + 1);
        if (last === undefined || !isCut) break;
        after = keysetOf(last);
      }
    } catch (error) {
      // The caller continues at `next` when the database is back.
      if (last === undefined || !(error instanceof CapstanError) || error.code !== 'database_unavailable') throw error;
    } finally {
      release();
    }
    const next = last === undefined || !isCut ? null : keysetCursor(keysetOf(last));
    answer(ctx, { changed, failed, next }, 'The marks are changed.');
  },
});

function requireRight(ctx: HttpContext, { hold }: MarksChange): void {
  if (hold !== undefined) requireScope(ctx, 'admin');
}

/** Whether the caller may change the marks of a capture that it sees. */
function isChangeable(ctx: HttpContext, { api_key_name: key }: Pick<Result, 'api_key_name'>): boolean {
  const { apiKeyName, scope } = callerOf(ctx);
  return scope === 'admin' || (key !== undefined && key === apiKeyName);
}

function filterOf(
  ctx: HttpContext,
  { url, host, ...where }: ResultConditions & { readonly url?: Target | undefined; readonly host?: string | undefined },
): ResultFilter {
  if (url !== undefined && host !== undefined)
    throw refusal([{ path: 'host', message: 'cannot be combined with url' }]);
  if (url === undefined && host === undefined && Object.values(where).every((value) => value === undefined)) {
    const names = ['url', 'host', ...Object.keys(conditionParameters)].join(', ');
    throw refusal([{ path: '', message: `needs at least one condition: ${names}` }]);
  }
  const { apiKeyName, scope } = callerOf(ctx);
  const common = { where, ofKey: scope === 'admin' ? undefined : (apiKeyName ?? '') };
  if (url !== undefined) return { by: 'url', url: url.url, orUrl: overHttp(url), ...common };
  return host === undefined ? { by: 'all', ...common } : { by: 'host', host, ...common };
}

/** The record of a capture may still wait for the database. */
async function whyNoRecord(service: ServiceView, id: number): Promise<CapstanError> {
  const why = await service.whyMissing(id);
  return why.code === 'not_found' ? new CapstanError('not_found', `There is no result with the id ${id}.`) : why;
}
