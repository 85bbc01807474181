import { z } from 'zod';
import { count } from '../../capture/basics/values.ts';
import { CapstanError } from '../../capture/errors.ts';
import {
  DeadLetterSchema,
  NewReceiverSchema,
  ReceiverSchema,
  ReceiverTestSchema,
  receiverName,
} from '../../capture/work/receiver.ts';
import { answer } from '../answer/envelope.ts';
import { linkedPage, PAGE_END } from '../answer/paging.ts';
import { callerOf, listedKey } from '../keys/callers.ts';
import { envelope } from '../openapi/content.ts';
import { DATABASE_FAILURES } from '../openapi/failures.ts';
import { letterCursor } from '../request/cursor.ts';
import { DEFAULT_LIMIT, letterCursorParameter, limitParameter } from '../request/parameters.ts';
import { publicPath } from '../request/public-address.ts';
import { route, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Receivers of messages. A key sees its own and those of the operator; of dead letters those about its own events. */

const name = receiverName.meta({ description: 'Name of a receiver.' });
const TESTS_A_MINUTE = 10;
const letterId = z.string().meta({ description: 'Id of a message.' });
const deadName = name.meta({
  description:
    'Name of a receiver; `callback` for the callbacks of requests, `webhook` for the receivers of --webhook.',
});
const ONE = { description: 'The receiver.', content: envelope('Receiver', ReceiverSchema) };
const Revived = z.strictObject({ messages: count.meta({ description: 'Messages that are sent again.' }) });
const REVIVED = { description: 'They wait to be sent.', content: envelope('RevivedMessages', Revived) };

export const postReceiver = routeWithBody({
  method: 'POST',
  path: '/receivers',
  operationId: 'addReceiver',
  summary: 'Adds a receiver of messages.',
  description:
    'Watches, standing queries and scans of the same API key name it in `notify`. Its address must be public, or allowed by `--allow-webhooks`.',
  tag: 'operations',
  parameters: {},
  body: { name: 'NewReceiver', schema: () => NewReceiverSchema },
  answers: { 201: { ...ONE, headers: ['Location'] } },
  failures: ['target_forbidden', 'too_many_receivers', ...DATABASE_FAILURES],
  handle: async (ctx, { body }, { service }) => {
    answer(ctx, await service.receivers.add(body, caller(ctx)), 'The receiver is kept.');
    ctx.status = 201;
    ctx.set('Location', publicPath(ctx, `/receivers/${body.name}`));
  },
});

export const getReceivers = route({
  method: 'GET',
  path: '/receivers',
  operationId: 'listReceivers',
  summary: 'The receivers that `notify` may name.',
  tag: 'operations',
  parameters: {},
  answers: {
    200: {
      description: 'Those of the operator, then those of the key, by name.',
      content: envelope('ReceiverList', z.array(ReceiverSchema)),
    },
  },
  failures: [...DATABASE_FAILURES],
  handle: async (ctx, _, { service }) => answer(ctx, await service.receivers.list(caller(ctx))),
});

export const getReceiver = route({
  method: 'GET',
  path: '/receivers/{name}',
  operationId: 'getReceiver',
  summary: 'A receiver.',
  tag: 'operations',
  parameters: { name },
  answers: { 200: ONE },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, asked, { service }) => answer(ctx, await service.receivers.get(asked.name, caller(ctx))),
});

export const deleteReceiver = route({
  method: 'DELETE',
  path: '/receivers/{name}',
  operationId: 'removeReceiver',
  scope: 'capture',
  summary: 'Removes a receiver that the key has added, and what waits for it.',
  tag: 'operations',
  parameters: { name },
  answers: {
    200: { description: 'It is removed.', content: envelope('RemovedReceiver', z.strictObject({ name: z.string() })) },
  },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, asked, { service }) => {
    await service.receivers.remove(asked.name, caller(ctx));
    answer(ctx, { name: asked.name }, 'The receiver is removed.');
  },
});

export const testReceiver = route({
  method: 'POST',
  path: '/receivers/{name}/test',
  operationId: 'testReceiver',
  summary: 'Sends a sample to a receiver, and answers how that ended.',
  description: `At most ${TESTS_A_MINUTE} a minute for each key.`,
  tag: 'operations',
  parameters: { name },
  answers: { 200: { description: 'The end of it.', content: envelope('ReceiverTest', ReceiverTestSchema) } },
  failures: ['not_found', 'rate_limited', ...DATABASE_FAILURES],
  handle: async (ctx, asked, { service, rates }) => {
    const by = caller(ctx);
    const { retryAfterSeconds } = rates.take(`tests of ${by.apiKeyName ?? ''}`, TESTS_A_MINUTE, 1);
    if (retryAfterSeconds > 0) {
      const reason = `A key sends at most ${TESTS_A_MINUTE} samples a minute.`;
      throw new CapstanError('rate_limited', reason, { retryAfterSeconds });
    }
    answer(ctx, await service.receivers.test(asked.name, by));
  },
});

export const getDeadLetters = route({
  method: 'GET',
  path: '/receivers/{name}/dead',
  operationId: 'listDeadLetters',
  summary: 'Messages that were given up, oldest first.',
  description: 'They are kept for 7 days.',
  tag: 'operations',
  parameters: { name: deadName, limit: limitParameter(String(DEFAULT_LIMIT)), cursor: letterCursorParameter },
  answers: {
    200: {
      description: `A page. ${PAGE_END}`,
      content: envelope('DeadLetterList', z.array(DeadLetterSchema)),
      headers: ['Link'],
    },
  },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { name: of, limit = DEFAULT_LIMIT, cursor }, { service }) => {
    answer(ctx, linkedPage(ctx, await service.receivers.dead(of, caller(ctx), limit, cursor), letterCursor));
  },
});

export const retryDeadLetter = route({
  method: 'POST',
  path: '/receivers/{name}/dead/{id}/retry',
  operationId: 'retryDeadLetter',
  summary: 'Sends a message again that was given up.',
  tag: 'operations',
  parameters: { name: deadName, id: letterId },
  answers: { 200: REVIVED },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { name: of, id }, { service }) => {
    await service.receivers.retry(of, id, caller(ctx));
    answer(ctx, { messages: 1 });
  },
});

export const retryDeadLetters = route({
  method: 'POST',
  path: '/receivers/{name}/dead/retry',
  operationId: 'retryDeadLetters',
  summary: 'Sends all messages again that were given up, at most 1000.',
  tag: 'operations',
  parameters: { name: deadName },
  answers: { 200: REVIVED },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { name: of }, { service }) =>
    answer(ctx, { messages: await service.receivers.retryAll(of, caller(ctx)) }),
});

function caller(ctx: HttpContext) {
  const { apiKeyName, owner } = callerOf(ctx);
  return { apiKeyName, owner, ofKey: listedKey(ctx) };
}
