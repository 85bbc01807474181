import { setTimeout as delay } from 'node:timers/promises';
import type { CaptureRequest, ImageFormat } from '../../../capture-request.ts';
import { CdpError } from '../../cdp/connection.ts';
import { type Deadline, within } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { viewportOf } from './emulate-device.ts';
import { printPdf } from './print-pdf.ts';

/** Chromium cannot draw more into one picture; WebP cannot hold the last row of it. */
const TALLEST: Readonly<Record<ImageFormat, number>> = { png: 16_384, jpeg: 16_384, webp: 16_383 };
/**
 * Most pixels of one picture: a page 2048 px wide may be as tall as any. Drawing takes ten bytes a pixel; a page of
 * 16384 by 16384 made one process of Chromium take 2.7 GB.
 */
const MOST_PIXELS = 2048 * 16_384;
/** "Unable to capture screenshot" is said now and then, and not the next time; so is that a page is being replaced. */
const MOST_REFUSALS = 5;
const REFUSED_PAUSE_MS = 20;

/**
 * Longest wait for a picture of a page that is left alone. One that loads itself again and again gives none, ever; all
 * others take some 80 ms, and 2 s for the largest.
 */
const PATIENCE_MS = 8_000;
const LEAST_PATIENCE_MS = 150;

export interface Picture {
  readonly image: Uint8Array;
  /** True when the page had to be held still for it. */
  readonly held: boolean;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly truncated: boolean;
  /** Pixels of the whole page, with `fullPage`; 0 without. */
  readonly fullHeight: number;
}

/** The picture of what the page shows: the viewport, or the whole page up to the cap. */
export async function takePicture(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<Picture> {
  const { format } = request;
  if (format === 'pdf') {
    return { image: await printPdf(page, request.pdf ?? {}, deadline), held: false, ...ON_PAPER };
  }
  const size = request.fullPage ? await wholePage(page, format, deadline) : windowOf(request);
  const options = {
    format,
    ...(format === 'png' ? {} : { quality: request.quality }),
    // Weaker compression: 1.38 times the captures a second for files 15 % larger.
    optimizeForSpeed: true,
    ...(request.fullPage
      ? { captureBeyondViewport: true, clip: { x: 0, y: 0, width: size.width, height: size.height, scale: 1 } }
      : {}),
  };
  let held = false;
  const shots: Promise<{ readonly data: string }>[] = [];
  for (let refusals = 0; ; ) {
    shots.push(page.session.send('Page.captureScreenshot', options));
    const patienceMs = Math.max(LEAST_PATIENCE_MS, Math.min(PATIENCE_MS, deadline.remainingMs / 2));
    try {
      const answer = await deadline.step('take the picture', within(patienceMs, Promise.any(shots), null));
      if (answer !== null) return { image: Buffer.from(answer.data, 'base64'), held, ...size };
      holdStill(page);
      held = true;
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      const [reason] = error.errors;
      refusals += 1;
      if (!(reason instanceof CdpError) || refusals === MOST_REFUSALS) throw reason;
      shots.length = 0;
      await deadline.step('take the picture', delay(refusals * REFUSED_PAUSE_MS));
    }
  }
}

/** No more loading and no more scripts: what is there now stays, also of a page that sends itself on and on. */
function holdStill(page: IsolatedPage): void {
  page.session.post('Emulation.setScriptExecutionDisabled', { value: true });
  page.session.post('Page.stopLoading');
}

type Size = Omit<Picture, 'image' | 'held'>;

/** What is printed has sheets, and no pixels. */
const ON_PAPER: Size = { width: 0, height: 0, truncated: false, fullHeight: 0 };

function windowOf(request: CaptureRequest): Size {
  const { width, height, deviceScaleFactor } = viewportOf(request);
  return {
    width: Math.round(width * deviceScaleFactor),
    height: Math.round(height * deviceScaleFactor),
    truncated: false,
    fullHeight: 0,
  };
}

async function wholePage(page: IsolatedPage, format: ImageFormat, deadline: Deadline): Promise<Size> {
  const { cssContentSize } = await deadline.step('measure the page', page.session.send('Page.getLayoutMetrics'));
  const tallest = TALLEST[format];
  const whole = {
    width: Math.max(1, Math.ceil(cssContentSize.width)),
    height: Math.max(1, Math.ceil(cssContentSize.height)),
  };
  const width = Math.min(whole.width, tallest);
  const height = Math.min(whole.height, tallest, Math.floor(MOST_PIXELS / width));
  return { width, height, truncated: width < whole.width || height < whole.height, fullHeight: whole.height };
}
