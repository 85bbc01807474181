import type { Deadline } from '../capture/deadline.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { comeToRest } from './come-to-rest.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { refuseUnwanted } from './refuse-unwanted.ts';
import { type Found, salvage } from './salvage.ts';
import { resizeImage } from './screenshot/resize-image.ts';
import type { ShotPlan } from './screenshot/shot-plan.ts';
import { takeScreenshot } from './screenshot/take-screenshot.ts';
import type { Taken } from './taken.ts';
import { demandPaint } from './wait/demand-paint.ts';

/**
 * Waits for the page and takes its picture. Shortly before the deadline, what is known by then and the last frame of
 * the window take their place.
 */
export function takePicture(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
): Promise<Taken> {
  const found: Found = {};
  const taking = takeAtRest(page, request, plan, deadline, found);
  return Promise.race([taking, salvage(page, request, plan, deadline, found)]);
}

/** Adds the parts of the capture to `found` as they become known, and resolves with all of them. */
async function takeAtRest(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
  found: Found,
): Promise<Taken> {
  const { facts, cutPhase, picture: taken } = await comeToRest(page, request, plan, deadline);
  found.facts = facts;
  found.cutPhase = cutPhase;
  if (cutPhase !== null) await demandPaint(page, plan, deadline);
  await refuseUnwanted(page, request, facts, deadline);
  deadline.enter('picture');
  const whole = taken ?? (await takeScreenshot(page, plan, deadline));
  const picture = await deadline.step('resize the image', resizeImage(whole, plan));
  found.picture = picture;
  return { facts, cutPhase, picture };
}
