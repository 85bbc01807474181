import type { z } from 'zod';
import { type CaptureFormat, FORMATS, IMAGE_FORMATS } from '../artifacts/formats.ts';
import { orOf } from '../basics/values.ts';
import type { BannerAnswers } from './content.ts';
import type { optionFields } from './groups.ts';

/* Combinations of options that contradict each other. The problem names the option to remove. */

type Written = Partial<Record<keyof typeof optionFields | 'url' | 'html' | 'allowNetwork', unknown>> & {
  readonly format?: CaptureFormat;
  readonly outputs?: readonly unknown[] | undefined;
};

/** Options without a meaning for a PDF, which consists of sheets and not of pixels. */
const NOT_ON_PAPER = [
  'fullPage',
  'selector',
  'clip',
  'resize',
  'omitBackground',
  'mask',
] as const satisfies (keyof Written)[];

export function refuseContradictions(written: Written, context: z.RefinementCtx): void {
  const refuse = (field: keyof Written, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  const asked = (field: keyof Written) => written[field] !== undefined && written[field] !== false;
  if (written.format === 'pdf') {
    const advice = `choose ${orOf(IMAGE_FORMATS)}, or remove it`;
    for (const field of NOT_ON_PAPER)
      if (asked(field)) refuse(field, `cannot be combined with the format pdf: ${advice}`);
  } else if (asked('pdf')) refuse('pdf', 'requires the format pdf');
  if (asked('maxHeight') && !asked('fullPage')) refuse('maxHeight', 'requires fullPage');
  if (asked('selector') && asked('fullPage'))
    refuse('selector', 'cannot be combined with fullPage: remove one of them');
  if (asked('clip') && asked('fullPage')) refuse('clip', 'cannot be combined with fullPage: remove one of them');
  if (asked('selector') && asked('clip')) refuse('selector', 'cannot be combined with clip: remove one of them');
  const { format = 'png' } = written;
  if (format !== 'pdf' && asked('omitBackground') && !FORMATS[format].hasTransparency) {
    const transparent = IMAGE_FORMATS.filter((other) => FORMATS[other].hasTransparency);
    refuse('omitBackground', `requires the format ${orOf(transparent)}: ${format} has no transparency`);
  }
}

/** Refuses `isolation: "batch"` for pages that Playwright drives, given HTML, and captures that may be reused. */
export function refuseSharing(written: Written, context: z.RefinementCtx): void {
  if (written.isolation !== 'batch') return;
  const { html, actions, form, waitForFunction, outputs = [], cacheMaxAgeMs = 0 } = written;
  const others = {
    html: html !== undefined,
    actions: actions !== undefined,
    form: form !== undefined,
    waitForFunction: waitForFunction !== undefined,
    'the output aria': outputs.includes('aria'),
    cacheMaxAgeMs: cacheMaxAgeMs !== 0,
  };
  for (const [other, isAsked] of Object.entries(others)) {
    if (!isAsked) continue;
    const message = `batch cannot be combined with ${other}: remove one of them`;
    context.addIssue({ code: 'custom', path: ['isolation'], message });
  }
}

/** Refuses a second target, and with each target the options of the other. */
export function refuseTwoTargets(targets: Written, context: z.RefinementCtx): void {
  const { url, html, allowNetwork, headers, httpCredentials, proxy } = targets;
  const refuse = (field: keyof Written, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (html === undefined) {
    if (allowNetwork === true) refuse('allowNetwork', 'requires html: a url has the network');
    return;
  }
  if (proxy !== undefined && allowNetwork !== true) refuse('proxy', 'requires allowNetwork: HTML has no network');
  if (url !== undefined) refuse('html', 'cannot be combined with url: remove one of them');
  const servers = { headers, httpCredentials };
  for (const field of ['headers', 'httpCredentials'] as const) {
    if (servers[field] !== undefined) refuse(field, 'requires a url: HTML comes from no server');
  }
}

/** Refuses accepting and rejecting the same banner. */
export function refuseTwoAnswers(answers: BannerAnswers, context: z.RefinementCtx): void {
  if (answers.acceptCookieBanners === true && answers.rejectCookieBanners === true) {
    const message = 'cannot be combined with acceptCookieBanners: remove one of them';
    context.addIssue({ code: 'custom', path: ['rejectCookieBanners'], message });
  }
}
