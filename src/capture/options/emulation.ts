import { z } from 'zod';
import type { CaptureFormat } from '../artifacts/formats.ts';
import { type Device, findDevice, nearestDevices } from './devices.ts';
import { optionFacts } from './facts.ts';
import { flag, objectOf, quantity, textOf } from './fields.ts';
import {
  completeViewport,
  DEFAULT_VIEWPORT,
  type Viewport,
  viewportProblem,
  type WrittenViewport,
} from './screenshot.ts';

const MAX_NAME_CHARACTERS = 100;
const MAX_USER_AGENT_CHARACTERS = 512;
const MAX_ACCURACY_METRES = 1_000_000;
const DEFAULT_ACCURACY_METRES = 10;

const LOCALE = 'must be the BCP 47 tag of a known language, such as de-AT';
const TIMEZONE = 'must be an IANA time zone such as Europe/Vienna';
const NAMED = `must have at most ${MAX_NAME_CHARACTERS} characters`;

/** Emulated device, visitor preferences and position. */
export const emulationFields = {
  device: z
    .string({ error: 'must be the name of a device such as iPhone 15' })
    .max(MAX_NAME_CHARACTERS, { error: NAMED, abort: true })
    .register(optionFacts, { secret: false })
    .transform((name, context) => {
      const device = findDevice(name);
      if (device !== undefined) return device;
      context.addIssue({
        code: 'custom',
        message: `is not a known device; similar names are ${nearestDevices(name).join(', ')}`,
      });
      return z.NEVER;
    })
    .optional()
    .meta({
      description:
        "Name of a device in Playwright's list: sets viewport, screen, scale, touch and user agent. `viewport` and `userAgent` override the device's values.",
      examples: ['iPhone 15', 'Pixel 9', 'iPad Pro 11 landscape'],
    }),
  userAgent: textOf(MAX_USER_AGENT_CHARACTERS)
    .min(1, { error: 'must not be empty' })
    .regex(/^[\x20-\x7e]*$/, { error: 'must have printable ASCII characters only' })
    .register(optionFacts, { secret: false })
    .optional()
    .meta({
      description: 'User agent string. Client hints (`Sec-CH-UA`, `navigator.userAgentData`) are derived from it.',
    })
    .register(optionFacts, { defaultText: 'that of desktop Chrome' }),
  media: z
    .enum(['screen', 'print'], { error: 'must be screen or print' })
    .optional()
    .meta({
      description:
        'CSS media type that the page is rendered for. With `screen`, a PDF looks like the page in a window.',
    })
    .register(optionFacts, { defaultText: 'screen; print for the sheets of a PDF' }),
  darkMode: flag.default(false).meta({ description: 'Emulate `prefers-color-scheme: dark`.' }),
  reducedMotion: flag.default(false).meta({ description: 'Emulate `prefers-reduced-motion: reduce`.' }),
  locale: z
    .string({ error: LOCALE })
    .max(MAX_NAME_CHARACTERS, { error: NAMED, abort: true })
    .register(optionFacts, { secret: false })
    .transform(reading(baseLocale, LOCALE))
    .optional()
    .meta({
      description:
        'Language of the visitor, a BCP 47 tag: `Accept-Language`, `navigator.languages`, number and date formats.',
      examples: ['de-AT'],
    })
    .register(optionFacts, { defaultText: 'en-US' }),
  timezone: z
    .string({ error: TIMEZONE })
    .max(MAX_NAME_CHARACTERS, { error: NAMED, abort: true })
    .register(optionFacts, { secret: false })
    .transform(reading(timeZone, TIMEZONE))
    .optional()
    .meta({ description: 'Time zone of the page, an IANA name.', examples: ['Europe/Vienna'] })
    .register(optionFacts, { defaultText: 'UTC' }),
  geolocation: objectOf(
    {
      latitude: quantity('degrees', -90, 90),
      longitude: quantity('degrees', -180, 180),
      accuracy: quantity('metres', 0, MAX_ACCURACY_METRES)
        .default(DEFAULT_ACCURACY_METRES)
        .meta({ description: 'Metres.' }),
    },
    'a geolocation',
    'an object with latitude, longitude and optionally accuracy',
  )
    .optional()
    .meta({ description: 'Position that the page gets when it asks. Without it, the permission is denied.' })
    .register(optionFacts, { defaultText: 'denied' }),
};

interface Emulated {
  readonly device?: Device | undefined;
  readonly viewport?: WrittenViewport | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * Resolves the viewport and user agent: the request's own, else the device's, else the default viewport. Of the device,
 * the name stays, for the record.
 */
export function withDevice<T extends Emulated>({ device, ...written }: T) {
  const userAgent = written.userAgent ?? device?.userAgent;
  return { ...written, device: device?.name, viewport: viewportOf({ device, ...written }), userAgent };
}

/** Drops the media type that images are rendered for anyway, so that equal requests compare equal. */
export function withMedia<
  T extends { readonly media?: 'screen' | 'print' | undefined; readonly format: CaptureFormat },
>(written: T): T {
  return written.media === 'screen' && written.format !== 'pdf' ? { ...written, media: undefined } : written;
}

/** Refuses a viewport that, completed from the device, has too many pixels or none. */
export function refuseViewport(written: Emulated, context: z.RefinementCtx): void {
  const message = viewportProblem(viewportOf(written));
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['viewport'], message });
}

function viewportOf({ device, viewport }: Emulated): Viewport {
  return completeViewport(viewport, device?.viewport ?? DEFAULT_VIEWPORT);
}

/** Transforms a text with `read`, and reports `problem` when `read` throws. */
function reading(read: (text: string) => string, problem: string) {
  return (text: string, context: z.RefinementCtx): string => {
    try {
      return read(text);
    } catch {
      context.addIssue({ code: 'custom', message: problem });
      return z.NEVER;
    }
  };
}

/** Removes extensions (`-u-nu-latn`), which Chromium rejects. */
function baseLocale(text: string): string {
  const { baseName } = new Intl.Locale(text);
  if (Intl.DateTimeFormat.supportedLocalesOf(baseName).length === 0) throw new RangeError(text);
  return baseName;
}

function timeZone(text: string): string {
  // Node accepts offsets (`+01:00`), Chromium does not.
  if (!/^[a-z]/i.test(text)) throw new RangeError(text);
  return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
}
