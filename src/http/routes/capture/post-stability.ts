import { StabilitySchema } from '../../../capture/comparison/stability.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import { refusal } from '../../../capture/validate.ts';
import { checkStability, type StabilityParts } from '../../../stability/check-stability.ts';
import { CAPTURES_OF_CHECK } from '../../../stability/variations.ts';
import { answer } from '../../answer/envelope.ts';
import { clientGone } from '../../connection/client-gone.ts';
import { callerOf } from '../../keys/callers.ts';
import { envelope } from '../../openapi/content.ts';
import { refuseWhenFull } from '../../request/refuse-early.ts';
import { spendRate } from '../../request/spend-rate.ts';
import { routeWithBody } from '../../route.ts';
import { infoOf } from '../compare.ts';
import { CAPTURE_FAILURES } from './post-screenshot.ts';

/**
 * Maximum number of captures of a check at once, which mostly wait. Measured on two cores with a page of 30,000
 * elements: the p95 of a neighbour's captures is 2.1 times as long, 0.6 s; with all 11 at once it is 43 times, 10 s.
 */
const AT_ONCE = 2;

export const postStability = routeWithBody({
  method: 'POST',
  path: '/captures/stability',
  operationId: 'checkStability',
  summary: 'Finds the elements of a page that look different from capture to capture, and why.',
  description: `Captures the page ${CAPTURES_OF_CHECK} times, as one batch: first with the same clock, random numbers and timing, then with one of them varied at a time. Returns the elements that differ, each with the cause, and a list for \`ignore\` of comparisons and watches. The captures are stored, and count towards the rate and the shares of the key.`,
  tag: 'capture',
  isIdempotent: true,
  parameters: {},
  screen: refuseWhenFull,
  body: { name: 'ScreenshotRequest', schema: ({ screenshot }) => screenshot },
  answers: {
    200: {
      description: 'What was found.',
      content: envelope('Stability', StabilitySchema),
      headers: ['Idempotent-Replayed'],
    },
  },
  failures: [...CAPTURE_FAILURES, 'rate_limited', 'comparison_too_large', 'artifact_elsewhere', 'artifact_pending'],
  handle: async (ctx, { body }, context) => {
    const { service } = context;
    refuseOthers(body);
    spendRate(ctx, context, CAPTURES_OF_CHECK);
    const parts: StabilityParts = {
      capture: (requests, by) => service.submitBatch(requests, { by, concurrency: AT_ONCE }),
      comparisons: service.comparisons,
      infoOf: (id) => infoOf(service, id),
    };
    const found = await checkStability(parts, body, callerOf(ctx), clientGone(ctx));
    answer(ctx, found, found.stable ? 'The page looks the same each time.' : 'Elements differ from time to time.');
  },
});

/** Refuses options that a check does not support. */
function refuseOthers({ format, callback }: CaptureRequest): void {
  const problems = [
    ...(format === 'pdf' ? [{ path: 'format', message: 'must be an image format: a PDF cannot be compared' }] : []),
    ...(callback === undefined ? [] : [{ path: 'callback', message: 'is not accepted: the check is answered' }]),
  ];
  if (problems.length > 0) throw refusal(problems);
}
